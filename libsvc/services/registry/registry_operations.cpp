#include "libsvc/services/registry/registry_operations.h"

#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/services/registry/catalogue_versions.h"

namespace svc {

namespace {

constexpr const char* transfers_claim = "registry";  // a transfer waits for other operations: one at a time

std::string registry_claim(const std::string& name) {
    return "registry/" + name;
}

std::string description_of(std::string_view kind) {
    if (kind == "registry.push") return "Pushing application";
    if (kind == "registry.pull") return "Pulling application";
    return "Deleting application from registry";
}

}  // namespace

void RegistryOperations::check_idle(std::string_view kind, const std::string& name) const {
    if (engine_.claimed(registry_claim(name)))
        throw Error(ErrorCode::busy, description_of(kind) + " already in progress");
}

Started RegistryOperations::start(std::string kind, const RegistryRequest& request, Json arguments) {
    OperationSpec spec;
    spec.description = description_of(kind);
    spec.resources["applications"] = {"/1.0/applications/" + request.addressed};
    spec.claims = {registry_claim(arguments.at("name").as_string()), transfers_claim};
    spec.wait_for_claims = true;  // behind other transfers, without holding a worker
    spec.cancel_holders = false;
    spec.cancellable = kind != "registry.delete";
    spec.kind = std::move(kind);
    spec.arguments = std::move(arguments);
    spec.requestor = request.requestor;
    return engine_.start(std::move(spec), {});
}

Started RegistryOperations::join_or_start(std::string kind, const RegistryRequest& request, Json arguments) {
    for (const Started& other : engine_.list()) {
        const bool in_progress =
            other->status == OperationStatus::pending || other->status == OperationStatus::running;
        if (in_progress && other->kind == kind && covers(other->arguments, arguments)) return other;
    }
    return start(std::move(kind), request, std::move(arguments));
}

Json RegistryOperations::push_arguments(const Application& application,
                                        const std::vector<int>& versions) const {
    return Json::object({{"name", application.name},
                         {"application", application.id.str()},
                         {"url", connection_.url()},
                         {"versions", JsonArray(versions.begin(), versions.end())}});
}

Json RegistryOperations::pull_arguments(const std::string& name) const {
    return Json::object({{"name", name}, {"url", connection_.url()}});
}

Started RegistryOperations::push(const Application& application, const std::vector<int>& versions,
                                 const RegistryRequest& request) {
    return start("registry.push", request, push_arguments(application, versions));
}

Started RegistryOperations::join_or_push(const Application& application, const std::vector<int>& versions,
                                         const RegistryRequest& request) {
    return join_or_start("registry.push", request, push_arguments(application, versions));
}

Started RegistryOperations::pull(const std::string& name, const RegistryRequest& request) {
    return start("registry.pull", request, pull_arguments(name));
}

Started RegistryOperations::join_or_pull(const std::string& name, const RegistryRequest& request) {
    return join_or_start("registry.pull", request, pull_arguments(name));
}

Started RegistryOperations::remove(const std::string& name, const RegistryRequest& request) {
    check_idle("registry.delete", name);
    return start("registry.delete", request, Json::object({{"name", name}}));
}

}  // namespace svc
