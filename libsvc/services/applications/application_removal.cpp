#include "libsvc/services/applications/application_removal.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/guarded.h"
#include "libsvc/base/log.h"
#include "libsvc/services/applications/application_versions.h"
#include "libsvc/services/common/retry.h"

namespace svc {

namespace {

std::ptrdiff_t remaining_versions(const Application& application) {
    return std::ranges::count_if(application.versions, [](const ApplicationVersion& version) {
        return version.status != ImageStatus::deleted;
    });
}

std::vector<std::string> claims_of(const std::string& id, const ApplicationVersion& version) {
    return {version_claim(id, version.number), update_claim(id, version.number)};
}

// Ends an operation when all its base containers are gone.
struct BasesToRemove {
    Guarded<std::shared_ptr<OperationCompletion>> completion;
    std::atomic<std::size_t> left{0};

    void cancel() {
        const auto present = completion.with([](const auto& value) { return value; });
        if (present) present->fail(Error(ErrorCode::cancelled, "Operation cancelled"));
    }
};

}  // namespace

ApplicationRemoval::ApplicationRemoval(ApplicationRemovalParts parts) : parts_(parts) {
    handle_resumable(
        parts_.engine, "application.delete",
        [this](OperationContext& context) { return run_delete(context); },
        [this](const Operation& operation, const Error&) { return keep(operation); });
    handle_resumable(parts_.engine, "application.delete_version",
                     [this](OperationContext& context) { return run_delete_version(context); });
}

Started ApplicationRemoval::remove(std::string_view id_or_name, bool force, const std::string& requestor) {
    return retry_on_conflict([&] {
        const std::string id = parts_.applications.get(id_or_name)->id.str();
        auto spec = application_operation("application.delete", "Deleting application", id_or_name,
                                          {id, ApplicationTarget::no_version, ""}, requestor);
        spec.claims = {"applications/" + id};
        spec.wait_for_claims = true;
        Batch batch;
        parts_.applications.stage_update(batch, id, [&](Application& application) {
            if (application.deleting && parts_.engine.claimed("applications/" + id)) throw_deleting();
            if (application.immutable && !force) throw_not_allowed("deleting immutable application");
            application.deleting = true;
            for (const ApplicationVersion& version : application.versions)
                for (std::string& claim : claims_of(id, version)) spec.claims.push_back(std::move(claim));
        });
        return parts_.engine.start(std::move(spec), std::move(batch));
    });
}

Started ApplicationRemoval::remove_version(std::string_view id_or_name, int number, bool force,
                                           const std::string& requestor) {
    const auto application = parts_.applications.get(id_or_name);
    version_of(*application, number);
    if (application->immutable && !force) throw_not_allowed("updating immutable application");
    return start_version(id_or_name, {application->id.str(), number, ""}, requestor);
}

Started ApplicationRemoval::start_version(std::string_view addressed, const ApplicationTarget& target,
                                          const std::string& requestor) {
    return retry_on_conflict([&] {
        Batch batch;
        parts_.applications.stage_update(batch, target.application, [&](Application& application) {
            version_of(application, target.version);
            ApplicationVersion& version = *application.version(target.version);
            const bool marked = version.status == ImageStatus::deleted;
            const bool whole =
                application.deleting && parts_.engine.claimed("applications/" + application.id.str());
            if (whole || (marked && is_going(target))) throw_deleting();
            if (!marked && remaining_versions(application) == 1)
                throw Error(ErrorCode::invalid_argument,
                            "deleting the last version of an application not allowed");
            version.status = ImageStatus::deleted;
            version.published = false;
        });
        auto spec = application_operation("application.delete_version", "Delete application version",
                                          addressed, target, requestor);
        spec.resources["applications"].push_back("/1.0/applications/" + std::string(addressed) + "/" +
                                                 std::to_string(target.version));
        spec.claims = {version_claim(target.application, target.version),
                       update_claim(target.application, target.version)};
        spec.wait_for_claims = true;
        return parts_.engine.start(std::move(spec), std::move(batch));
    });
}

// A deletion that failed has left the mark: it may be started again.
bool ApplicationRemoval::is_going(const ApplicationTarget& target) const {
    return parts_.engine.claimed(version_claim(target.application, target.version));
}

OperationResult ApplicationRemoval::keep(const Operation& operation) {
    OperationResult result;
    result.stage = [this, id = ApplicationTarget::of(operation).application](Batch& last) {
        if (parts_.applications.find(id))
            parts_.applications.stage_update(last, id, [](Application& kept) { kept.deleting = false; });
    };
    return result;
}

OperationResult ApplicationRemoval::run_delete(OperationContext& context) {
    const auto target = ApplicationTarget::of(context.operation());
    const auto application = parts_.applications.find(target.application);
    if (!application) return {};  // its creation was cancelled by this deletion
    std::vector<std::string> bases;
    for (const ApplicationVersion& version : application->versions)
        if (!version.base_instance.empty()) bases.push_back(version.base_instance);
    return without_bases(context, bases, [this, id = target.application] { return erase(id); });
}

OperationResult ApplicationRemoval::run_delete_version(OperationContext& context) {
    const auto target = ApplicationTarget::of(context.operation());
    const auto application = parts_.applications.find(target.application);
    const ApplicationVersion* const version = application ? application->version(target.version) : nullptr;
    if (version == nullptr) return {};
    std::vector<std::string> bases;
    if (!version->base_instance.empty()) bases.push_back(version->base_instance);
    return without_bases(context, bases, [this, target] { return erase_version(target); });
}

// Ends with `last` once the containers are gone; holds no worker until then.
OperationResult ApplicationRemoval::without_bases(OperationContext& context,
                                                  const std::vector<std::string>& bases,
                                                  std::function<OperationResult()> last) {
    if (bases.empty()) return last();
    const auto waiting = std::make_shared<BasesToRemove>();
    waiting->left = bases.size();
    const auto completion = context.detach([waiting] { waiting->cancel(); });
    waiting->completion.with([&](auto& value) { value = completion; });
    if (context.stop().stop_requested()) waiting->cancel();
    for (const std::string& base : bases)
        parts_.instances.base().remove(InstanceId(base), [waiting, completion, last] {
            if (--waiting->left == 0) completion->succeed(last);
        });
    return {};
}

OperationResult ApplicationRemoval::erase(const std::string& id) {
    const auto application = parts_.applications.find(id);
    if (!application) return {};
    ContentReferences content;
    for (const ApplicationVersion& version : application->versions)
        content.merge(content_of(*application, version));
    OperationResult result;
    result.stage = [this, id](Batch& last) { parts_.applications.stage_remove(last, id); };
    result.after = [this, id, content] {
        parts_.content.drop(content);
        log::info("application deleted", {{"application", id}});
    };
    return result;
}

OperationResult ApplicationRemoval::erase_version(const ApplicationTarget& target) {
    const auto application = parts_.applications.find(target.application);
    const ApplicationVersion* const version = application ? application->version(target.version) : nullptr;
    if (version == nullptr) return {};
    OperationResult result;
    result.stage = [this, target](Batch& last) {
        if (!parts_.applications.find(target.application)) return;
        parts_.applications.stage_update(last, target.application, [&](Application& record) {
            std::erase_if(record.versions, [&](const auto& v) { return v.number == target.version; });
        });
    };
    result.after = [this, target, content = content_of(*application, *version)] {
        parts_.content.drop(content);
        log::info("application version deleted",
                  {{"application", target.application}, {"version", std::to_string(target.version)}});
    };
    return result;
}

}  // namespace svc
