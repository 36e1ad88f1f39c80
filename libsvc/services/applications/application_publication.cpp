#include "libsvc/services/applications/application_publication.h"

#include <algorithm>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/services/applications/application_versions.h"
#include "libsvc/services/common/retry.h"

namespace svc {

ApplicationPublication::ApplicationPublication(ApplicationPublicationParts parts) : parts_(parts) {
    handle_resumable(parts_.engine, "application.publish",
                     [this](OperationContext& context) { return run(context.operation()); });
}

Started ApplicationPublication::publish(std::string_view id_or_name, int number, bool published,
                                        const std::string& requestor) {
    return retry_on_conflict([&] {
        const std::string id = parts_.records.check_update(id_or_name)->id.str();
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
        auto spec = application_operation("application.publish", "Updating application version", id_or_name,
                                          {id, number, ""}, requestor);
        spec.resources["applications"].push_back("/1.0/applications/" + std::string(id_or_name) + "/" +
                                                 std::to_string(number));
        return parts_.engine.start(std::move(spec), std::move(batch));
    });
}

OperationResult ApplicationPublication::run(const Operation& operation) {
    const auto target = ApplicationTarget::of(operation);
    const auto application = parts_.applications.find(target.application);
    const ApplicationVersion* const version = application ? application->version(target.version) : nullptr;
    if (version == nullptr) return {};
    log::info(version->published ? "application version published" : "application version revoked",
              {{"application", target.application}, {"version", std::to_string(target.version)}});
    version_active(target.application);
    return {};
}

void ApplicationPublication::version_active(const std::string& id) {
    enforce_limit(id);
    if (listener_) listener_(id);
}

void ApplicationPublication::enforce_limits() {
    parts_.jobs.post([this] {
        for (const auto& application : parts_.applications.list()) enforce_limit(application->id.str());
    });
}

void ApplicationPublication::enforce_limit(const std::string& id) {
    try {
        const auto application = parts_.applications.find(id);
        if (!application) return;
        for (const int number : surplus(*application)) {
            parts_.removal.start_version(id, {id, number, ""}, "service");
            log::info("application version beyond application.max_published_versions is deleted",
                      {{"application", id}, {"version", std::to_string(number)}});
        }
    } catch (const Error& e) {
        log::warning("versions of an application cannot be cleaned up",
                     {{"application", id}, {"error", e.what()}});
    }
}

// The lowest published versions that no instance uses. They are not pulled from a registry again, because a
// pull takes the newest versions only.
std::vector<int> ApplicationPublication::surplus(const Application& application) const {
    std::vector<int> published;
    for (const ApplicationVersion& version : application.versions)
        if (version.published && version.status == ImageStatus::active) published.push_back(version.number);
    const auto limit =
        static_cast<std::size_t>(parts_.config.values().number("application.max_published_versions"));
    if (application.deleting || published.size() <= limit) return {};
    std::size_t too_many = published.size() - limit;
    published.pop_back();  // launches take the highest one
    std::vector<int> leaving;
    for (const int number : published) {
        if (too_many == 0) break;
        if (is_used(application.id.str(), number)) continue;
        leaving.push_back(number);
        --too_many;
    }
    return leaving;
}

bool ApplicationPublication::is_used(const std::string& application, int version) const {
    const auto instances = parts_.instances.records().list();
    return std::ranges::any_of(instances, [&](const auto& instance) {
        return instance->app_id == application && instance->app_version == version &&
               instance->type != InstanceType::base && !instance->pooled &&
               instance->status != InstanceStatus::deleted;
    });
}

}  // namespace svc
