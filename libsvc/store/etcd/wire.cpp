#include "libsvc/store/etcd/wire.h"

#include <charconv>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::etcd {

namespace {

[[noreturn]] void throw_strange(std::string_view what) {
    throw Error(ErrorCode::unavailable, "etcd answers with " + std::string(what) + " that is malformed");
}

bool flag(const Json& object, std::string_view key) {
    const Json* const value = object.find(key);
    return value != nullptr && value->is_bool() && value->as_bool();
}

std::string bytes(const Json& object, std::string_view key) {
    const Json* const value = object.find(key);
    if (value == nullptr) return "";
    try {
        return base64_decode(value->as_string());
    } catch (const Error&) {
        throw_strange(key);
    }
}

const JsonArray& items(const Json& object, std::string_view key) {
    static const JsonArray none;
    const Json* const value = object.find(key);
    if (value == nullptr) return none;
    if (!value->is_array()) throw_strange(key);
    return value->as_array();
}

const Json& member(const Json& object, std::string_view key) {
    static const Json nothing = Json::object();
    const Json* const value = object.find(key);
    return value == nullptr ? nothing : *value;
}

Json range_of_keys(const KeyRange& keys) {
    Json range = Json::object({{"key", base64_encode(keys.begin)}});
    if (!keys.end.empty()) range.set("range_end", base64_encode(keys.end));
    return range;
}

WatchEvent read_event(const Json& event) {
    const Json& entry = member(event, "kv");
    WatchEvent read{bytes(entry, "key"), std::nullopt, number(entry, "mod_revision")};
    const Json* const type = event.find("type");
    if (type == nullptr || *type != Json("DELETE")) read.value = bytes(entry, "value");
    return read;
}

Json parsed_line(std::string_view line) {
    try {
        return Json::parse(line);
    } catch (const Error&) {
        throw_strange("a watch");
    }
}

}  // namespace

std::uint64_t number(const Json& object, std::string_view key) {
    const Json* const value = object.find(key);
    if (value == nullptr) return 0;
    if (!value->is_string()) throw_strange(key);
    const std::string& text = value->as_string();
    std::uint64_t read = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), read);
    if (error != std::errc() || end != text.data() + text.size()) throw_strange(key);
    return read;
}

KeyRange below(std::string_view prefix) {
    KeyRange keys{std::string(prefix), std::string(prefix)};
    keys.end.back() = static_cast<char>(keys.end.back() + 1);  // UTF-8 has no 0xff
    return keys;
}

Json range_request(const KeyRange& keys, const ReadOptions& options) {
    Json request = range_of_keys(keys);
    if (options.at != 0) request.set("revision", std::to_string(options.at));
    if (options.limit != 0) request.set("limit", std::to_string(options.limit));
    if (options.keys_only) request.set("keys_only", true);
    if (options.newest_first) {
        request.set("sort_order", "DESCEND");
        request.set("sort_target", "MOD");
    }
    return request;
}

Page read_page(const Json& reply) {
    Page page;
    for (const Json& entry : items(reply, "kvs"))
        page.entries.push_back({bytes(entry, "key"), bytes(entry, "value"), number(entry, "mod_revision")});
    page.more = flag(reply, "more");
    page.revision = number(member(reply, "header"), "revision");
    return page;
}

void Transaction::expect(std::string_view key, Revision revision) {
    compare_.push_back(Json::object({{"target", "MOD"},
                                     {"result", "EQUAL"},
                                     {"key", base64_encode(key)},
                                     {"mod_revision", std::to_string(revision)}}));
}

void Transaction::expect_none_after(const KeyRange& keys, Revision revision) {
    Json compare = range_of_keys(keys);
    compare.set("target", "MOD");
    compare.set("result", "LESS");
    compare.set("mod_revision", std::to_string(revision + 1));
    compare_.push_back(std::move(compare));
}

void Transaction::put(std::string_view key, std::string_view value, std::uint64_t lease) {
    Json put = Json::object({{"key", base64_encode(key)}, {"value", base64_encode(value)}});
    if (lease != 0) put.set("lease", std::to_string(lease));
    success_.push_back(Json::object({{"request_put", std::move(put)}}));
}

void Transaction::remove(std::string_view key) {
    success_.push_back(Json::object({{"request_delete_range", Json::object({{"key", base64_encode(key)}})}}));
}

void Transaction::read(const Json& range) {
    success_.push_back(Json::object({{"request_range", range}}));
}

void Transaction::if_refused(const Json& range) {
    failure_.push_back(Json::object({{"request_range", range}}));
}

Json Transaction::request() const {
    return Json::object({{"compare", compare_}, {"success", success_}, {"failure", failure_}});
}

TransactionReply read_transaction(const Json& reply) {
    TransactionReply read;
    read.succeeded = flag(reply, "succeeded");
    read.revision = number(member(reply, "header"), "revision");
    for (const Json& response : items(reply, "responses"))
        if (const Json* const range = response.find("response_range")) read.read.push_back(read_page(*range));
    return read;
}

Json watch_request(const KeyRange& keys, Revision from) {
    Json create = range_of_keys(keys);
    create.set("start_revision", std::to_string(from));
    return Json::object({{"create_request", std::move(create)}});
}

WatchMessage read_watch_message(std::string_view line) {
    const Json parsed = parsed_line(line);
    const Json* const result = parsed.find("result");
    if (result == nullptr)
        throw Error(ErrorCode::unavailable, "etcd ends the watch: " + quoted(member(parsed, "error").dump()));
    WatchMessage message;
    for (const Json& event : items(*result, "events")) message.events.push_back(read_event(event));
    message.cancelled = flag(*result, "canceled");
    message.compacted = number(*result, "compact_revision") != 0;
    return message;
}

}  // namespace svc::etcd
