// Which versions are offered, and how many.
#include <algorithm>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/services/applications/application_implementation.h"

namespace svc {

Started ApplicationService::Implementation::publish(std::string_view id_or_name, int number, bool published,
                                                    const std::string& requestor) {
    return retry_on_conflict([&] {
        const std::string id = check_update(id_or_name)->id.str();
        Batch batch;
        parts_.applications.stage_update(batch, id, [&](Application& application) {
            if (application.deleting) throw_deleting();
            version_of(application, number);
            ApplicationVersion& version = *application.version(number);
            if (version.status != ImageStatus::active)
                throw Error(ErrorCode::invalid_argument, "publishing version " + std::to_string(number) +
                                                             " not allowed: it is " +
                                                             std::string(to_text(version.status)));
            version.published = published;
        });
        auto spec = spec_for("application.publish", "Updating application version", id_or_name,
                             {id, number, ""}, requestor);
        spec.resources["applications"].push_back("/1.0/applications/" + std::string(id_or_name) + "/" +
                                                 std::to_string(number));
        return parts_.engine.start(std::move(spec), std::move(batch));
    });
}

OperationResult ApplicationService::Implementation::run_publish(const Operation& operation) {
    const Target target = Target::of(operation);
    const Ptr application = parts_.applications.find(target.application);
    const ApplicationVersion* const version = application ? application->version(target.version) : nullptr;
    if (version == nullptr) return {};
    log::info(version->published ? "application version published" : "application version revoked",
              {{"application", target.application}, {"version", std::to_string(target.version)}});
    enforce_limit(target.application);
    tell_published(target.application);
    return {};
}

void ApplicationService::Implementation::tell_published(const std::string& id) const {
    if (published_listener_) published_listener_(id);
}

void ApplicationService::Implementation::enforce_limits() {
    post([this] {
        for (const Ptr& application : parts_.applications.list()) enforce_limit(application->id.str());
    });
}

void ApplicationService::Implementation::enforce_limit(const std::string& id) {
    try {
        const Ptr application = parts_.applications.find(id);
        if (!application) return;
        for (const int number : surplus(*application)) {
            start_removal(id, {id, number, ""}, "service");
            log::info("application version beyond application.max_published_versions is deleted",
                      {{"application", id}, {"version", std::to_string(number)}});
        }
    } catch (const Error& e) {
        log::warning("versions of an application cannot be cleaned up",
                     {{"application", id}, {"error", e.what()}});
    }
}

// The lowest published ones that nobody uses. Of a registry only the newest ones are taken, so they do not
// come again.
std::vector<int> ApplicationService::Implementation::surplus(const Application& application) const {
    std::vector<int> published;
    for (const ApplicationVersion& version : application.versions)
        if (version.published && version.status == ImageStatus::active) published.push_back(version.number);
    const auto limit =
        static_cast<std::size_t>(parts_.config.values().number("application.max_published_versions"));
    if (application.deleting || published.size() <= limit) return {};
    std::size_t too_many = published.size() - limit;
    published.pop_back();  // the one that launches take
    std::vector<int> leaving;
    for (const int number : published) {
        if (too_many == 0) break;
        if (is_used(application.id.str(), number)) continue;
        leaving.push_back(number);
        --too_many;
    }
    return leaving;
}

bool ApplicationService::Implementation::is_used(const std::string& application, int version) const {
    const auto instances = parts_.instances.list();
    return std::ranges::any_of(instances, [&](const auto& instance) {
        return instance->app_id == application && instance->app_version == version &&
               instance->type != InstanceType::base && instance->status != InstanceStatus::deleted;
    });
}

}  // namespace svc
