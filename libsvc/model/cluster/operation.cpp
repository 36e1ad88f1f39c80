#include "libsvc/model/cluster/operation.h"

#include <array>
#include <utility>

#include "libsvc/base/enum_table.h"
#include "libsvc/base/error.h"

namespace svc {

namespace {

constexpr int operation_schema = 1;

constexpr std::array<std::pair<int, std::string_view>, 16> status_texts{{{100, "Operation created"},
                                                                         {101, "Started"},
                                                                         {102, "Stopped"},
                                                                         {103, "Running"},
                                                                         {104, "Cancelling"},
                                                                         {105, "Pending"},
                                                                         {106, "Starting"},
                                                                         {107, "Stopping"},
                                                                         {108, "Aborting"},
                                                                         {109, "Freezing"},
                                                                         {110, "Frozen"},
                                                                         {111, "Thawed"},
                                                                         {112, "Error"},
                                                                         {200, "Success"},
                                                                         {400, "Failure"},
                                                                         {401, "Cancelled"}}};

constexpr std::array<EnumName<OperationClass>, 3> class_names{{{OperationClass::task, "task"},
                                                               {OperationClass::websocket, "websocket"},
                                                               {OperationClass::token, "token"}}};

Json resources_to_json(const Operation& operation) {
    if (operation.resources.empty()) return {};
    Json result = Json::object();
    for (const auto& [kind, urls] : operation.resources)
        result.set(kind, JsonArray(urls.begin(), urls.end()));
    return result;
}

OperationStatus status_from_store(std::int64_t code) {
    switch (code) {
        case 103:
        case 104:
        case 105:
        case 200:
        case 400:
        case 401:
            return static_cast<OperationStatus>(code);
        default:
            throw_invalid("status_code", "not the status of an operation");
    }
}

std::map<std::string, std::vector<std::string>> resources_from_store(const JsonFields& fields) {
    std::map<std::string, std::vector<std::string>> result;
    const auto resources = fields.object("resources");
    if (!resources) return result;
    for (const auto& [kind, urls] : resources->value().as_object())
        result.emplace(kind, resources->strings(kind).value_or(std::vector<std::string>()));
    return result;
}

Json raw_or_null(const JsonFields& fields, std::string_view key) {
    const Json* value = fields.raw(key);
    return value == nullptr ? Json() : *value;
}

}  // namespace

std::string_view status_text(int code) {
    for (const auto& [known, text] : status_texts)
        if (known == code) return text;
    return "unknown";
}

std::string_view to_text(OperationStatus status) {
    return status_text(static_cast<int>(status));
}

bool is_final(OperationStatus status) {
    return static_cast<int>(status) >= 200;
}

std::string_view to_text(OperationClass value) {
    return enum_text<OperationClass>(class_names, value);
}

Json without_secrets(Json metadata) {
    if (metadata.find("fds") != nullptr) metadata.erase("fds");
    return metadata;
}

Json to_json(const Operation& operation) {
    return Json::object({
        {"id", operation.id.str()},
        {"class", to_text(operation.cls)},
        {"description", operation.description},
        {"created_at", to_rfc3339(operation.created_at)},
        {"updated_at", to_rfc3339(operation.updated_at)},
        {"status", to_text(operation.status)},
        {"status_code", static_cast<int>(operation.status)},
        {"resources", resources_to_json(operation)},
        {"metadata", operation.metadata},
        {"may_cancel", operation.may_cancel},
        {"err", operation.err},
        {"server_address", ""},
        {"requestor", operation.requestor},
    });
}

Json operation_to_store(const Operation& operation) {
    return Json::object({
        {"schema", operation_schema},
        {"id", operation.id.str()},
        {"class", to_text(operation.cls)},
        {"kind", operation.kind},
        {"description", operation.description},
        {"created_at", to_rfc3339(operation.created_at)},
        {"updated_at", to_rfc3339(operation.updated_at)},
        {"status_code", static_cast<int>(operation.status)},
        {"resources", resources_to_json(operation)},
        {"metadata", operation.metadata},
        {"may_cancel", operation.may_cancel},
        {"err", operation.err},
        {"requestor", operation.requestor},
        {"arguments", operation.arguments},
        {"claims", JsonArray(operation.claims.begin(), operation.claims.end())},
        {"cancels_holders", operation.cancels_holders},
    });
}

Operation operation_from_store(const Json& stored) {
    const JsonFields fields(stored);
    Operation operation;
    operation.id = OperationId(fields.require_string("id"));
    operation.cls = enum_value<OperationClass>(class_names, fields.require_string("class"))
                        .value_or(OperationClass::task);
    operation.kind = fields.require_string("kind");
    operation.description = fields.string("description").value_or("");
    operation.created_at = from_rfc3339(fields.require_string("created_at"));
    operation.updated_at = from_rfc3339(fields.require_string("updated_at"));
    operation.status = status_from_store(fields.require_int("status_code"));
    operation.resources = resources_from_store(fields);
    operation.metadata = raw_or_null(fields, "metadata");
    operation.may_cancel = fields.boolean("may_cancel").value_or(false);
    operation.err = fields.string("err").value_or("");
    operation.requestor = fields.string("requestor").value_or("");
    operation.arguments = raw_or_null(fields, "arguments");
    operation.claims = fields.strings("claims").value_or(std::vector<std::string>());
    operation.cancels_holders = fields.boolean("cancels_holders").value_or(true);
    return operation;
}

std::string operation_url(const OperationId& id) {
    return "1.0/operations/" + id.str();
}

}  // namespace svc
