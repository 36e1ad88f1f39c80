#include "libsvc/services/registry/registry_sync.h"

#include <algorithm>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/services/registry/catalogue_versions.h"

namespace svc {

namespace {

// An error with one application does not stop the others; a registry that cannot be reached does.
template <class Work>
void with_each_apart(const char* what, const std::string& name, Work&& work) {
    try {
        work();
    } catch (const Error& e) {
        if (e.code() == ErrorCode::unavailable || e.code() == ErrorCode::forbidden) throw;
        if (e.code() == ErrorCode::busy) return;  // in progress; compared again next time
        log::warning(what, {{"application", name}, {"error", e.what()}});
    }
}

}  // namespace

void RegistrySync::synchronise() {
    parts_.connection.check_configured();
    const std::string mode = parts_.connection.mode();
    if (mode == "pull") synchronise_pull();
    if (mode == "push") synchronise_push();
}

void RegistrySync::synchronise_pull() {
    const auto catalogue = parts_.connection.open();
    const auto offered = catalogue->list();
    const auto wanted = parts_.connection.filter();
    for (const auto& application : offered)
        if (passes_filter(application.tags, wanted))
            with_each_apart("application is not pulled", application.name,
                            [&] { pull_new(*catalogue, application); });
    forget_missing(offered);
}

void RegistrySync::pull_new(Catalogue& catalogue, const CatalogueApplication& offered) {
    const auto local = parts_.missing.find_local(offered.name);
    if (local && (!local->immutable || local->deleting)) {
        log::debug("application is not pulled, its name is taken", {{"application", offered.name}});
        return;
    }
    parts_.operations.check_idle("registry.pull", offered.name);
    if (!parts_.missing.missing_here(catalogue, offered).empty())
        parts_.operations.pull(offered.name, {offered.name, ""});
}

// An application that came from the registry is deleted when the registry no longer has it; running instances
// stay.
void RegistrySync::forget_missing(const std::vector<CatalogueApplication>& offered) {
    for (const auto& application : parts_.applications.list()) {
        const auto is_offered =
            std::ranges::any_of(offered, [&](const auto& one) { return one.name == application->name; });
        if (!application->immutable || application->deleting || is_offered) continue;
        with_each_apart("application is not removed", application->name, [&] {
            parts_.applications.removal().remove(application->id.str(), true, "");
            log::info("application is no longer in the registry", {{"application", application->name}});
        });
    }
}

void RegistrySync::synchronise_push() {
    const auto catalogue = parts_.connection.open();
    for (const auto& application : parts_.applications.list())
        if (!application->immutable && !application->deleting)
            with_each_apart("application is not pushed", application->name,
                            [&] { push_new(*catalogue, *application); });
}

void RegistrySync::push_new(Catalogue& catalogue, const Application& application) {
    parts_.operations.check_idle("registry.push", application.name);
    const auto wanted = parts_.missing.to_publish_without_request(application);
    if (!MissingVersions::missing_there(catalogue, application, wanted).empty()) start_push(application);
}

void RegistrySync::start_push(const Application& application) {
    parts_.operations.push(application, parts_.missing.to_publish_without_request(application),
                           {application.id.str(), ""});
}

void RegistrySync::published(const std::string& application_id) {
    try {
        if (parts_.connection.url().empty() || parts_.connection.mode() != "push") return;
        parts_.connection.check_configured();
        const auto application = parts_.applications.get(application_id);
        if (application->immutable || application->deleting || versions_to_publish(*application).empty())
            return;
        start_push(*application);
    } catch (const Error& e) {
        log::warning("application is not pushed", {{"application", application_id}, {"error", e.what()}});
    }
}

}  // namespace svc
