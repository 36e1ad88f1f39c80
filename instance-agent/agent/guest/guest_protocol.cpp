#include "instance-agent/agent/guest/guest_protocol.h"

#include <set>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"

namespace svc::agent {
namespace {

constexpr std::int64_t protocol_version = 1;
constexpr std::size_t max_client_name = 256;

// The id of the machine's present boot: by it a client knows whether times since boot that it kept are still
// valid.
std::string read_boot_id() try {
    std::string id = read_file("/proc/sys/kernel/random/boot_id", 64);
    while (!id.empty() && id.back() == '\n') id.pop_back();
    return id;
} catch (const Error&) {
    return "";
}

Json refusal(std::string_view reason) {
    return Json::object({{"ok", false}, {"error", reason}});
}

Json with_id(const Json& id, const Json& members) {
    Json whole = Json::object({{"id", id}});
    for (const auto& [name, value] : members.as_object()) whole.set(name, value);
    return whole;
}

[[noreturn]] void refuse_message(const char* reason) {
    throw Error(ErrorCode::invalid_argument, reason);
}

}  // namespace

GuestProtocol::GuestProtocol(std::vector<GuestFeature> features)
    : features_(std::move(features)), boot_id_(read_boot_id()) {
    for (const GuestFeature& feature : features_)
        for (const auto& [name, op] : feature.ops)
            if (name == "hello" || !ops_.emplace(name, op).second)
                throw Error(ErrorCode::internal, "guest operation " + quoted(name) + " is there twice");
}

GuestProtocol::Reply GuestProtocol::take(const GuestSessionPtr& session, bool greeted,
                                         const GuestMessage& message) {
    if (message.kind == MessageKind::json) return take_json(session, greeted, message.payload);
    if (!greeted) refuse_message("hello must come first");
    for (const GuestFeature& feature : features_)
        if (feature.binary) feature.binary(session, message.stream, message.payload);
    return {};
}

GuestProtocol::Reply GuestProtocol::take_json(const GuestSessionPtr& session, bool greeted,
                                              const std::string& text) {
    const Json request = Json::parse(text);
    if (!request.is_object()) refuse_message("message is not an object");
    const Json* id = request.find("id");
    if (id != nullptr && !id->is_integer()) refuse_message("id is not an integer");
    const JsonFields fields(request);
    const Json* op = request.find("op");
    const std::string name = op != nullptr && op->is_string() ? op->as_string() : "";
    Reply reply;
    if (name == "hello" || !greeted)
        reply = name == "hello" ? hello(greeted, fields)
                                : Reply{GuestAnswer{refusal("hello must come first")}, false, true};
    else
        reply.answer = run(session, name, fields);
    if (id != nullptr && !reply.answer->later)
        reply.answer->members = with_id(*id, reply.answer->members);
    else
        reply.answer.reset();
    return reply;
}

GuestProtocol::Reply GuestProtocol::hello(bool greeted, const JsonFields& request) const {
    Reply reply;
    if (greeted) {
        reply.answer = GuestAnswer{refusal("hello was said before")};
        return reply;
    }
    const Json* version = request.raw("version");
    const Json* name = request.raw("name");
    const char* fault = nullptr;
    if (version == nullptr || !version->is_integer() || *version != Json(protocol_version))
        fault = "version must be 1";
    else if (name == nullptr || !name->is_string() || name->as_string().size() > max_client_name)
        fault = "name must be a text of at most 256 bytes";
    if (fault != nullptr) return Reply{GuestAnswer{refusal(fault)}, false, true};
    JsonArray names;
    for (const GuestFeature& feature : features_)
        if (!feature.name.empty()) names.emplace_back(feature.name);
    reply.answer = GuestAnswer{Json::object({{"ok", true},
                                             {"version", protocol_version},
                                             {"features", std::move(names)},
                                             {"boot_id", boot_id_}})};
    reply.greeted = true;
    return reply;
}

GuestAnswer GuestProtocol::run(const GuestSessionPtr& session, const std::string& op,
                               const JsonFields& request) {
    const auto found = ops_.find(op);
    if (found == ops_.end()) return GuestAnswer{refusal("unknown operation")};
    try {
        GuestAnswer result = found->second(session, request);
        Json whole = Json::object({{"ok", true}});
        for (const auto& [name, value] : result.members.as_object()) whole.set(name, value);
        result.members = std::move(whole);
        return result;
    } catch (const Error& e) {
        return GuestAnswer{refusal(e.what())};
    } catch (const std::exception& e) {
        log::error("guest operation failed", {{"operation", op}, {"error", e.what()}});
        return GuestAnswer{refusal("internal error")};
    }
}

void GuestProtocol::ended(const GuestSessionPtr& session) {
    for (const GuestFeature& feature : features_) try {
            if (feature.closed) feature.closed(session);
        } catch (const std::exception& e) {
            log::error("end of a guest session failed", {{"feature", feature.name}, {"error", e.what()}});
        }
}

}  // namespace svc::agent
