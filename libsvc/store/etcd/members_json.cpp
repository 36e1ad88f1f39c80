#include "libsvc/store/etcd/members_json.h"

#include <algorithm>
#include <limits>

#include "libsvc/base/error.h"

namespace svc::etcd {

namespace {

Json object_of(const std::string& text) {
    try {
        Json parsed = Json::parse(text);
        if (parsed.is_object()) return parsed;
    } catch (const Error&) {
        // an earlier version wrote the id alone
    }
    return Json::object();
}

std::string text_in(const Json& object, std::string_view key) {
    const Json* const value = object.find(key);
    return value != nullptr && value->is_string() ? value->as_string() : "";
}

std::int64_t integer_in(const Json& object, std::string_view key) {
    const Json* const value = object.find(key);
    return value != nullptr && value->is_integer() ? value->as_int() : 0;
}

std::vector<std::string> texts_in(const Json& object, std::string_view key) {
    std::vector<std::string> texts;
    const Json* const value = object.find(key);
    if (value == nullptr || !value->is_array()) return texts;
    for (const Json& text : value->as_array())
        if (text.is_string()) texts.push_back(text.as_string());
    return texts;
}

}  // namespace

std::string manager_text(const Manager& manager, std::uint64_t term) {
    Json api = Json::array();
    for (const std::string& url : manager.api) api.push_back(url);
    return Json::object({{"id", manager.id},
                         {"name", manager.name},
                         {"address", manager.address},
                         {"version", manager.version},
                         {"schema", manager.schema},
                         {"term", static_cast<std::int64_t>(term)},
                         {"api", std::move(api)}})
        .dump();
}

std::optional<Manager> read_manager(const std::string& text) {
    const Json object = object_of(text);
    Manager manager{text_in(object, "id"),
                    text_in(object, "name"),
                    text_in(object, "address"),
                    text_in(object, "version"),
                    static_cast<int>(integer_in(object, "schema")),
                    texts_in(object, "api")};
    return manager.id.empty() ? std::nullopt : std::optional(std::move(manager));
}

std::uint64_t read_term(const std::string& manager) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(integer_in(object_of(manager), "term"), 0));
}

std::string holder_text(const Manager& manager) {
    return Json::object({{"id", manager.id}, {"host", manager.name}}).dump();
}

void read_holder(const Entry& entry, Lead& lead) {
    const Json object = object_of(entry.value);
    lead.holder = text_in(object, "id");
    if (lead.holder.empty()) lead.holder = "unknown";
    lead.host = text_in(object, "host");
    lead.holder_revision = entry.revision;
}

std::string owner_text(const std::string& id, std::uint64_t term) {
    return Json::object({{"id", id}, {"term", static_cast<std::int64_t>(term)}}).dump();
}

void read_owner(const Entry& entry, Lead& lead) {
    const Json object = object_of(entry.value);
    lead.owner = text_in(object, "id");
    if (lead.owner.empty()) lead.owner = entry.value;
    lead.term = static_cast<std::uint64_t>(integer_in(object, "term"));
    lead.owner_revision = entry.revision;
}

std::string schema_text(int schema) {
    return Json::object({{"schema", schema}}).dump();
}

void read_schema(const Entry& entry, RecordsSchema& schema) {
    const auto known = integer_in(object_of(entry.value), "schema");
    schema.raised = known > 0 ? static_cast<int>(known) : std::numeric_limits<int>::max();
    schema.revision = entry.revision;
}

}  // namespace svc::etcd
