#include "libsvc/services/applications/application_operation.h"

#include <utility>

#include "libsvc/base/error.h"

namespace svc {

Json ApplicationTarget::to_json() const {
    return Json::object({{"application", application}, {"version", version}, {"bootstrap", bootstrap}});
}

ApplicationTarget ApplicationTarget::of(const Operation& operation) {
    const JsonFields fields(operation.arguments);
    return {fields.require_string("application"), static_cast<int>(fields.require_int("version")),
            fields.string("bootstrap").value_or("")};
}

OperationSpec application_operation(std::string kind, std::string description, std::string_view addressed,
                                    const ApplicationTarget& target, std::string requestor) {
    OperationSpec spec;
    spec.kind = std::move(kind);
    spec.description = std::move(description);
    spec.resources["applications"] = {"/1.0/applications/" + std::string(addressed)};
    spec.arguments = target.to_json();
    spec.requestor = std::move(requestor);
    return spec;
}

std::string version_claim(const std::string& application, int version) {
    return "applications/" + application + "/versions/" + std::to_string(version);
}

std::string update_claim(const std::string& application, int version) {
    return "applications/" + application + "/updates/" + std::to_string(version);
}

void handle_resumable(Engine& engine, const char* kind, std::function<OperationResult(OperationContext&)> run,
                      std::function<OperationResult(const Operation&, const Error&)> undo) {
    engine.handle(kind, OperationHandler{std::move(run), std::move(undo), true});
}

bool operation_exists(const Engine& engine, const std::string& id) {
    try {
        engine.get(id);
        return true;
    } catch (const Error& e) {
        if (e.code() != ErrorCode::not_found) throw;
        return false;
    }
}

}  // namespace svc
