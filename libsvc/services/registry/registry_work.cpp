#include "libsvc/services/registry/registry_work.h"

#include <algorithm>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/id.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"
#include "libsvc/model/values/names.h"
#include "libsvc/services/registry/registry_choice.h"

namespace svc {

namespace {

constexpr const char* transfers_claim = "registry";  // one transfer at a time: it waits for other operations

std::string claim_of(const std::string& name) {
    return "registry/" + name;
}

std::string description_of(std::string_view kind) {
    if (kind == "registry.push") return "Pushing application";
    if (kind == "registry.pull") return "Pulling application";
    return "Deleting application from registry";
}

// One application that cannot be dealt with does not stop the others; a registry that cannot be reached does.
template <class Work>
void with_each_apart(const char* what, const std::string& name, Work&& work) {
    try {
        work();
    } catch (const Error& e) {
        if (e.code() == ErrorCode::unavailable || e.code() == ErrorCode::forbidden) throw;
        if (e.code() == ErrorCode::busy) return;  // it is being done, or will be next time
        log::warning(what, {{"application", name}, {"error", e.what()}});
    }
}

}  // namespace

RegistryWork::RegistryWork(RegistryWorkParts parts)
    : parts_(std::move(parts)), withdrawals_(parts_.keys / "withdrawn.json") {
    register_kinds();
}

void RegistryWork::check_configured() const {
    const ConfigValues config = parts_.config();
    const std::string url = config.text("registry.url");
    if (url.empty()) throw Error(ErrorCode::invalid_argument, "registry not configured");
    if (url.starts_with("file://")) return;
    const std::string fingerprint = to_lower(config.text("registry.fingerprint"));
    if (fingerprint.empty() || !parts_.trusted(fingerprint))
        throw Error(ErrorCode::invalid_argument, "registry certificate is not trusted");
}

void RegistryWork::check_mode(std::string_view action, std::string_view forbidden_mode) const {
    check_configured();
    if (parts_.config().text("registry.mode") == forbidden_mode)
        throw Error(ErrorCode::invalid_argument, std::string(action) + " not allowed");
}

std::unique_ptr<Catalogue> RegistryWork::open() const {
    check_configured();
    const ConfigValues config = parts_.config();
    CatalogueOptions options;
    options.url = config.text("registry.url");
    options.fingerprint = to_lower(config.text("registry.fingerprint"));
    options.certificate = parts_.keys / "client.crt";
    options.key = parts_.keys / "client.key";
    options.proxy_http = config.text("core.proxy_http");
    options.proxy_https = config.text("core.proxy_https");
    options.proxy_ignore_hosts = config.list("core.proxy_ignore_hosts");
    return open_catalogue(options);
}

std::shared_ptr<const Application> RegistryWork::find_local(std::string_view id_or_name) const {
    try {
        return parts_.applications.get(id_or_name);
    } catch (const Error& e) {
        if (e.code() != ErrorCode::not_found) throw;
        return nullptr;
    }
}

std::string RegistryWork::name_of(std::string_view id_or_name) const {
    if (const auto local = find_local(id_or_name)) return local->name;
    if (is_object_id(id_or_name)) throw Error(ErrorCode::not_found, "application not found");
    check_application_name("name", id_or_name);
    return std::string(id_or_name);
}

void RegistryWork::check_idle(std::string_view kind, const std::string& name) const {
    if (parts_.engine.claimed(claim_of(name)))
        throw Error(ErrorCode::busy, description_of(kind) + " already in progress");
}

Started RegistryWork::start(std::string kind, std::string_view addressed, Json arguments,
                            std::string requestor) {
    const std::string name = arguments.at("name").as_string();
    OperationSpec spec;
    spec.description = description_of(kind);
    spec.resources["applications"] = {"/1.0/applications/" + std::string(addressed)};
    spec.claims = {claim_of(name), transfers_claim};
    spec.wait_for_claims = true;  // behind other transfers, without holding a worker
    spec.cancel_holders = false;
    spec.cancellable = kind != "registry.delete";
    spec.kind = std::move(kind);
    spec.arguments = std::move(arguments);
    spec.requestor = std::move(requestor);
    return parts_.engine.start(std::move(spec), {});
}

// Who asks for what is under way already waits for its end; what is under way otherwise goes first.
Started RegistryWork::join_or_start(std::string kind, std::string_view addressed, Json arguments,
                                    std::string requestor) {
    for (const Started& other : parts_.engine.list()) {
        const bool goes_on =
            other->status == OperationStatus::pending || other->status == OperationStatus::running;
        if (goes_on && other->kind == kind && covers(other->arguments, arguments)) return other;
    }
    return start(std::move(kind), addressed, std::move(arguments), std::move(requestor));
}

Json RegistryWork::push_of(const Application& application, const std::vector<int>& versions) const {
    return Json::object({{"name", application.name},
                         {"application", application.id.str()},
                         {"url", parts_.config().text("registry.url")},
                         {"versions", JsonArray(versions.begin(), versions.end())}});
}

Json RegistryWork::pull_of(const std::string& name) const {
    return Json::object({{"name", name}, {"url", parts_.config().text("registry.url")}});
}

std::vector<CatalogueApplication> RegistryWork::list() {
    const auto wanted = parts_.config().list("registry.filter");
    auto applications = open()->list();
    applications.erase(std::remove_if(applications.begin(), applications.end(),
                                      [&](const auto& one) { return !passes_filter(one.tags, wanted); }),
                       applications.end());
    return applications;
}

Started RegistryWork::push(std::string_view id_or_name, std::string requestor) {
    check_mode("pushing an application in mode pull", "pull");
    const auto application = parts_.applications.get(id_or_name);
    const std::vector<int> versions = versions_to_publish(*application);
    if (versions.empty()) throw Error(ErrorCode::not_found, "published application version not found");
    withdrawals_.forget(application->name);
    return join_or_start("registry.push", id_or_name, push_of(*application, versions), std::move(requestor));
}

Started RegistryWork::pull(std::string_view id_or_name, std::string requestor) {
    check_mode("pulling an application in mode push", "push");
    const std::string name = name_of(id_or_name);
    const auto local = find_local(name);
    if (local && !local->immutable)
        throw Error(ErrorCode::conflict, "application " + quoted(name) + " already exists");
    return join_or_start("registry.pull", id_or_name, pull_of(name), std::move(requestor));
}

Started RegistryWork::remove(std::string_view id_or_name, std::string requestor) {
    check_configured();
    const std::string name = name_of(id_or_name);
    check_idle("registry.delete", name);
    return start("registry.delete", id_or_name, Json::object({{"name", name}}), std::move(requestor));
}

void RegistryWork::synchronise() {
    check_configured();
    const std::string mode = parts_.config().text("registry.mode");
    if (mode == "pull") synchronise_pull();
    if (mode == "push") synchronise_push();
}

void RegistryWork::synchronise_pull() {
    const auto catalogue = open();
    const auto offered = catalogue->list();
    const auto wanted = parts_.config().list("registry.filter");
    for (const auto& application : offered)
        if (passes_filter(application.tags, wanted))
            with_each_apart("application is not pulled", application.name,
                            [&] { pull_new(*catalogue, application); });
    forget_missing(offered);
}

void RegistryWork::pull_new(Catalogue& catalogue, const CatalogueApplication& offered) {
    const auto local = find_local(offered.name);
    if (local && (!local->immutable || local->deleting)) {
        log::debug("application is not pulled, its name is taken", {{"application", offered.name}});
        return;
    }
    check_idle("registry.pull", offered.name);
    if (!missing_here(catalogue, offered).empty())
        start("registry.pull", offered.name, pull_of(offered.name), "");
}

// Of those the registry may still have the version for other architectures only.
std::vector<int> RegistryWork::missing_here(Catalogue& catalogue, const CatalogueApplication& offered) const {
    const auto at_most = parts_.config().number("application.max_published_versions");
    const auto local = find_local(offered.name);
    auto versions =
        versions_to_pull(offered, local.get(), parts_.architecture, static_cast<std::size_t>(at_most));
    if (offered.architectures.size() < 2) return versions;
    versions.erase(std::remove_if(versions.begin(), versions.end(),
                                  [&](int version) {
                                      return !catalogue.has(offered.name, version, parts_.architecture);
                                  }),
                   versions.end());
    return versions;
}

// What came from the registry and is there no more goes here too; running instances stay.
void RegistryWork::forget_missing(const std::vector<CatalogueApplication>& offered) {
    for (const auto& application : parts_.applications.list()) {
        const auto is_offered = std::any_of(offered.begin(), offered.end(),
                                            [&](const auto& one) { return one.name == application->name; });
        if (!application->immutable || application->deleting || is_offered) continue;
        with_each_apart("application is not removed", application->name, [&] {
            parts_.applications.remove(application->id.str(), true, "");
            log::info("application is no longer in the registry", {{"application", application->name}});
        });
    }
}

void RegistryWork::synchronise_push() {
    const auto catalogue = open();
    for (const auto& application : parts_.applications.list())
        if (!application->immutable && !application->deleting)
            with_each_apart("application is not pushed", application->name,
                            [&] { push_new(*catalogue, *application); });
}

void RegistryWork::push_new(Catalogue& catalogue, const Application& application) {
    check_idle("registry.push", application.name);
    if (!missing_there(catalogue, application, versions_by_itself(application)).empty())
        start_own_push(application);
}

void RegistryWork::start_own_push(const Application& application) {
    start("registry.push", application.id.str(), push_of(application, versions_by_itself(application)), "");
}

// Behind a transfer that is under way: that one may have looked already.
void RegistryWork::published(const std::string& application_id) {
    try {
        const ConfigValues config = parts_.config();
        if (config.text("registry.url").empty() || config.text("registry.mode") != "push") return;
        check_configured();
        const auto application = parts_.applications.get(application_id);
        if (application->immutable || application->deleting || versions_to_publish(*application).empty())
            return;
        start_own_push(*application);
    } catch (const Error& e) {
        log::warning("application is not pushed", {{"application", application_id}, {"error", e.what()}});
    }
}

// Without those that were deleted from the registry on purpose.
std::vector<int> RegistryWork::versions_by_itself(const Application& application) const {
    std::vector<int> versions = versions_to_publish(application);
    std::erase_if(versions, [&](int number) { return withdrawals_.covers(application.name, number); });
    return versions;
}

std::vector<int> RegistryWork::missing_there(Catalogue& catalogue, const Application& application,
                                             const std::vector<int>& wanted) {
    std::vector<int> missing;
    for (const int number : versions_to_publish(application)) {
        if (!std::binary_search(wanted.begin(), wanted.end(), number)) continue;
        const std::string& architecture = application.version(number)->architecture;
        if (!catalogue.has(application.name, number, architecture)) missing.push_back(number);
    }
    return missing;
}

}  // namespace svc
