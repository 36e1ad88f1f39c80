// What clients ask of instances.
#include <algorithm>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/rollback.h"
#include "libsvc/base/strings.h"
#include "libsvc/model/instances/guest_text.h"
#include "libsvc/services/common/retry.h"
#include "libsvc/services/instances/instance_implementation.h"
#include "libsvc/services/instances/launch_source.h"

namespace svc {

namespace {

// How long a forced removal of a node waits for the deletion of one instance.
constexpr Duration removal_limit = std::chrono::minutes(5);

// Else the container could not be stopped when it has grown.
void check_size(const Instance& instance) {
    constexpr std::size_t most = Batch::max_value_bytes - room_to_grow;
    const std::size_t size = instance_to_store(instance).dump().size();
    if (size > most)
        throw Error(ErrorCode::invalid_argument, "container needs a record of " + std::to_string(size) +
                                                     " bytes, at most " + std::to_string(most) +
                                                     " are allowed: fewer tags, services or features");
}

[[noreturn]] void throw_being_deleted() {
    throw Error(ErrorCode::busy, "deletion already in progress");
}

[[noreturn]] void throw_not_allowed(const std::string& what, InstanceStatus status) {
    throw Error(ErrorCode::invalid_argument,
                what + " a container that is " + std::string(to_text(status)) + " not allowed");
}

void check_unprotected(const Instance& instance) {
    if (!instance.config->delete_protected) return;
    const std::string& name = instance.own_name.empty() ? instance.id.str() : *instance.own_name;
    throw Error(ErrorCode::forbidden, "deleting protected container " + quoted(name) + " not allowed");
}

bool is_started_or_running(InstanceStatus status) {
    return status == InstanceStatus::started || status == InstanceStatus::running;
}

}  // namespace

Started InstanceService::Implementation::launch(const InstanceCreate& request, bool no_wait, PathWord word,
                                                const std::string& requestor) {
    return retry_on_conflict([&] { check_name_is_free(request.name); },
                             [&] { return launch_once(request, no_wait, word, requestor); });
}

Started InstanceService::Implementation::launch_once(const InstanceCreate& request, bool no_wait,
                                                     PathWord word, const std::string& requestor) {
    const LaunchRecords records{parts_.images, parts_.applications, parts_.addons};
    const ConfigValues config = parts_.config.values();
    const LaunchSource chosen = find_launch_source(request, records, config);
    parts_.content.hold_layers(chosen.instance.layers);
    Rollback undo;
    undo.add("holding layers", [&] { parts_.content.drop_layers(chosen.instance.layers); });
    // Held now: what is still there cannot lose its layers any more.
    Instance instance = find_launch_source(pinned(request, chosen), records, config).instance;
    if (!instance.wanted_node.empty()) parts_.nodes.check_wanted(*instance.wanted_node);
    give_identity(instance);
    auto spec = spec_for("instance.launch", "Creating container",
                         {.instance = instance.id.str(), .no_wait = no_wait}, word, requestor);
    spec.cancellable = true;
    Batch batch;
    require_addons(batch, instance);
    Started started = start_launch(instance, std::move(spec), std::move(batch));
    undo.dismiss();
    return started;
}

// Of two launches that ask for the same at the same moment one meets a conflict, and then sees the other.
void InstanceService::Implementation::check_name_is_free(const std::string& name) const {
    if (!name.empty() && parts_.instances.find(name))
        throw Error(ErrorCode::conflict, "container " + quoted(name) + " already exists");
}

void InstanceService::Implementation::give_identity(Instance& instance) const {
    if (instance.id.str().empty()) instance.id = InstanceId(parts_.ids.object_id());
    instance.task_id = parts_.ids.object_id();
    instance.launch_operation = parts_.ids.uuid();
    instance.created_at = instance.start_requested_at = parts_.clock.now();
}

// Addons that the instance will fetch: written as they are, so that deleting one of them at the same moment
// meets a conflict, and then sees this instance.
void InstanceService::Implementation::require_addons(Batch& batch, const Instance& instance) const {
    for (const PackageRef& package : instance.packages) {
        if (package.is_application || !package.fetch) continue;
        parts_.addons.stage_update(batch, package.name, [&](Addon& addon) {
            const AddonVersion* const version = addon.version(package.version);
            if (addon.deleting || version == nullptr || version->deleting)
                throw Error(ErrorCode::not_found, "addon not found");
        });
    }
}

Started InstanceService::Implementation::start_launch(const Instance& instance, OperationSpec spec,
                                                      Batch batch) {
    check_size(instance);
    const std::string id = instance.id.str();
    const std::string requestor = spec.requestor;
    spec.id = instance.launch_operation;
    parts_.instances.stage_create(batch, instance);
    unannounced_.with([&](auto& ids) { ids.insert(id); });
    Rollback undo;
    undo.add("announcing", [&] { unannounced_.with([&](auto& ids) { ids.erase(id); }); });
    Started started = parts_.engine.start(std::move(spec), std::move(batch));
    undo.dismiss();
    announce(id, requestor);
    log::info("container created",
              {{"container", id}, {"application", instance.app_name}, {"image", instance.image_id}});
    return started;
}

Started InstanceService::Implementation::remove(std::string_view id, bool force, PathWord word,
                                                const std::string& requestor) {
    const Work work{.instance = parts_.instances.get(id)->id.str(), .force = force};
    return start_deletion(work, word, requestor, false);
}

// `again`: also when a deletion is going on already; this one then ends behind it.
Started InstanceService::Implementation::start_deletion(const Work& work, PathWord word,
                                                        const std::string& requestor, bool again) {
    bool base = false;
    auto started = retry_on_conflict([&] {
        const auto instance = parts_.instances.get(work.instance);
        base = instance->type == InstanceType::base;
        const bool deleting = instance->status == InstanceStatus::deleted;
        if (deleting && !again) throw_being_deleted();
        auto spec = spec_for("instance.delete", "Deleting container", work, word, requestor);
        spec.wait_for_claims = true;
        Batch batch;
        if (!deleting)
            parts_.instances.stage_update(batch, work.instance, [](Instance& changed) {
                check_unprotected(changed);
                changed.status = InstanceStatus::deleted;
            });
        return parts_.engine.start(std::move(spec), std::move(batch));
    });
    // Nobody waits for a guest that is going away: its start ends now and frees the claim.
    boots_.settle(work.instance, Error(ErrorCode::cancelled, "container is being deleted"));
    if (work.force || base) interrupt_end_hooks(work.instance);
    return started;
}

void InstanceService::Implementation::remove_all_on(const std::string& node) {
    const auto instances = parts_.instances.list();
    for (const auto& instance : instances)  // all of them or none
        if (instance->node == node) check_unprotected(*instance);
    std::vector<Started> deletions;
    for (const auto& instance : instances) {
        if (instance->node != node) continue;
        try {
            deletions.push_back(start_deletion({.instance = instance->id.str(), .force = true},
                                               PathWord::containers, "service", true));
        } catch (const Error& e) {
            if (e.code() != ErrorCode::not_found) throw;
        }
    }
    for (const Started& deletion : deletions) await_deletion(*deletion);
}

// The deletion itself goes on whatever this throws. When the service stops, `unavailable` leaves the removal
// of the node for the next start.
void InstanceService::Implementation::await_deletion(const Operation& deletion) {
    const SteadyTime end = parts_.clock.steady_now() + removal_limit;
    const auto done = parts_.engine.wait(deletion.id.str(), removal_limit);
    if (done->status == OperationStatus::success) return;
    if (!is_final(done->status) && parts_.clock.steady_now() < end)
        throw Error(ErrorCode::unavailable, "service is stopping");
    const std::string reason = is_final(done->status) ? done->err : "it takes too long";
    throw Error(ErrorCode::internal,
                "container " + Work::of(deletion).instance + " cannot be deleted: " + reason);
}

// Whatever else goes on with it.
Started InstanceService::Implementation::protect(std::string_view id, bool wanted, PathWord word,
                                                 const std::string& requestor) {
    return retry_on_conflict([&] {
        const Work work{.instance = parts_.instances.get(id)->id.str()};
        auto spec = spec_for("instance.protect", "Updating container", work, word, requestor);
        spec.claims.clear();
        Batch batch;
        parts_.instances.stage_update(batch, work.instance, [wanted](Instance& changed) {
            if (changed.status == InstanceStatus::deleted) throw_being_deleted();
            if (changed.type == InstanceType::base)
                throw Error(ErrorCode::invalid_argument, "protecting a base container not allowed");
            changed.config.change([wanted](InstanceConfig& config) { config.delete_protected = wanted; });
        });
        return parts_.engine.start(std::move(spec), std::move(batch));
    });
}

Started InstanceService::Implementation::set_desired_status(std::string_view id, std::string_view status,
                                                            bool no_wait, PathWord word,
                                                            const std::string& requestor) {
    return retry_on_conflict([&]() -> Started {
        const auto instance = parts_.instances.get(id);
        if (instance->status == InstanceStatus::deleted) throw_being_deleted();
        if (status != "running" && status != "stopped")
            throw Error(ErrorCode::invalid_argument,
                        "argument desired_status is invalid: must be running or stopped");
        if (instance->type == InstanceType::base)
            throw Error(ErrorCode::invalid_argument, "starting or stopping a base container not allowed");
        if (status == "running") return start_instance(instance, no_wait, word, requestor);
        return stop_instance(instance, word, requestor);
    });
}

// The reason is that of now: it may just have gone, and the record is not what it was yet.
void InstanceService::Implementation::throw_unreadable(const std::string& id) {
    const auto container = parts_.runtime.inspect(id);
    check_later(id);
    if (container && container->state == ContainerState::unreadable)
        throw Error(ErrorCode::unavailable, "container cannot be read: " + container->fault);
    throw Error(ErrorCode::busy, "container can be read again and is being looked at");
}

Started InstanceService::Implementation::start_instance(const Ptr& instance, bool no_wait, PathWord word,
                                                        const std::string& requestor) {
    if (is_started_or_running(instance->status)) throw Error(ErrorCode::invalid_argument, "Already running");
    if (instance->status_when_readable != InstanceStatus::unknown) throw_unreadable(instance->id.str());
    if (!may_move(instance->status, InstanceStatus::started)) throw_not_allowed("starting", instance->status);
    const Work work{.instance = instance->id.str(), .no_wait = no_wait};
    Batch batch;
    parts_.instances.stage_update(batch, work.instance, [now = parts_.clock.now()](Instance& changed) {
        changed.start_requested_at =
            now;  // stop_requested stays until it has started: expire() must not take it
    });
    auto spec = spec_for("instance.start", "Updating container", work, word, requestor);
    return parts_.engine.start(std::move(spec), std::move(batch));
}

// One that still boots is given up: its launch or start ends first, and leaves it to this.
Started InstanceService::Implementation::stop_instance(const Ptr& instance, PathWord word,
                                                       const std::string& requestor) {
    if (!is_started_or_running(instance->status)) throw_not_allowed("stopping", instance->status);
    const bool boots = instance->status == InstanceStatus::started;
    if (boots && instance->stop_requested)
        throw Error(ErrorCode::busy, "stopping the container already in progress");
    const Work work{.instance = instance->id.str()};
    Batch batch;
    parts_.instances.stage_update(batch, work.instance, [](Instance& changed) {
        if (!is_started_or_running(changed.status)) throw_not_allowed("stopping", changed.status);
        changed.stop_requested = true;
    });
    auto spec = spec_for("instance.stop", "Updating container", work, word, requestor);
    spec.wait_for_claims = boots;
    Started started = parts_.engine.start(std::move(spec), std::move(batch));
    if (boots) boots_.settle(work.instance, Error(ErrorCode::cancelled, "container is being stopped"));
    return started;
}

}  // namespace svc
