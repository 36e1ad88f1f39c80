// Taking instances down: stop, failure, deletion.
#include <algorithm>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/model/instances/guest_text.h"
#include "libsvc/services/instances/instance_implementation.h"

namespace svc {

namespace {

constexpr Duration hook_reserve = std::chrono::seconds(30);
constexpr const char* cancelled_launch = "launch was cancelled";

bool guest_may_be_up(InstanceStatus status) {
    return status == InstanceStatus::started || status == InstanceStatus::running;
}

// Address, ports and GPUs may be somebody else's from now on.
void clear_reservation(Instance& instance) {
    instance.address.clear();
    for (ServiceEntry& service : instance.services) service.node_port = service.node_port_end = 0;
    instance.gpus.clear();
    instance.gpu_encoder_slots = 0;
}

// Of a protected one nothing but a record that was never scheduled goes.
bool outlives_launch(const Instance& instance) {
    return instance.config->delete_protected && instance.status != InstanceStatus::created;
}

}  // namespace

// A guest whose packages have hooks may be in the middle of one. That of a bootstrap has nothing to lose.
Duration InstanceService::Implementation::stop_grace(const Instance& instance) const {
    Duration grace = parts_.options.stop_grace;
    if (instance.type == InstanceType::base) return std::clamp(time_left(instance), Duration::zero(), grace);
    for (const PackageRef& package : instance.packages)
        if (!package.hooks.empty())
            grace = std::max(grace, std::chrono::seconds(package.hook_timeout_seconds) + hook_reserve);
    return grace;
}

OperationResult InstanceService::Implementation::run_stop(OperationContext& context) {
    const Work work = Work::of(context.operation());
    const std::string requestor = context.operation().requestor;
    const auto instance = parts_.instances.find(work.instance);
    if (!instance || instance->status == InstanceStatus::deleted) return {};
    if (instance->type == InstanceType::base) {
        if (instance->status == InstanceStatus::error) return clear_failed_base(instance);
        const bool came_up =
            instance->status == InstanceStatus::running || instance->status == InstanceStatus::stopped;
        if (!came_up) return fail_instance({work.instance, "launch was interrupted"}, requestor);
    }
    return run_ending(context, instance, [this, instance, work, requestor](const std::stop_token& stop) {
        return stop_now(instance, work.exit_code, requestor, stop);
    });
}

OperationResult InstanceService::Implementation::stop_now(const Ptr& instance, int exit_code,
                                                          const std::string& requestor,
                                                          const std::stop_token& stop) {
    const std::string id = instance->id.str();
    if (parts_.runtime.inspect(id))
        parts_.runtime.stop(id, guest_may_be_up(instance->status) ? stop_grace(*instance) : Duration::zero());
    run_end_hooks(instance, exit_code, stop);
    parts_.nodes.release_all_but_disk(*instance);
    return transition(
        id,
        [now = parts_.clock.now()](Instance& changed) {
            if (!may_move(changed.status, InstanceStatus::stopped)) return false;
            changed.status = InstanceStatus::stopped;
            changed.stopped_at = now;
            clear_reservation(changed);
            return true;
        },
        "container-stopped", requestor, [this, instance] { tell_released(*instance); });
}

// Either it could not be stopped, and goes on; or what came after the guest failed.
OperationResult InstanceService::Implementation::undo_stop(const Operation& operation, const Error& error) {
    const std::string id = Work::of(operation).instance;
    const auto instance = parts_.instances.find(id);
    if (!instance || instance->status == InstanceStatus::deleted) return {};
    const auto container = parts_.runtime.inspect(id);
    const bool runs = container && container->state == ContainerState::running;
    if (!runs || instance->type == InstanceType::base)
        return fail_instance({id, error.what()}, operation.requestor);
    return transition(
        id, [](Instance& changed) { return std::exchange(changed.stop_requested, false); }, "", "");
}

OperationResult InstanceService::Implementation::run_fail(OperationContext& context) {
    const Work work = Work::of(context.operation());
    const auto container = work.if_gone ? parts_.runtime.inspect(work.instance) : std::nullopt;
    if (container && container->state == ContainerState::running) return {};
    const auto instance = parts_.instances.find(work.instance);
    if (!instance) return {};
    return run_ending(
        context, instance,
        [this, work, requestor = context.operation().requestor](const std::stop_token& stop) {
            return fail_instance({work.instance, work.message, work.exit_code, stop}, requestor);
        });
}

// The disk stays reserved until the instance is deleted.
OperationResult InstanceService::Implementation::fail_instance(const Failure& failure,
                                                               const std::string& requestor) {
    const auto instance = parts_.instances.find(failure.id);
    if (!instance || instance->status == InstanceStatus::deleted) return {};
    const auto container = parts_.runtime.inspect(failure.id);
    if (container && container->state == ContainerState::unreadable && instance->type != InstanceType::base)
        return set_aside(instance, container->fault, requestor);
    const std::string reason = failure.message.empty() ? "container failed for an unknown reason"
                                                       : clipped(failure.message, max_error_bytes);
    const bool stopped = stop_quietly(failure.id);
    if (stopped) try_end_hooks(instance, failure);
    auto logs = collect_logs(failure.id);
    log::warning("container failed", {{"container", failure.id}, {"error", reason}});
    if (instance->type == InstanceType::base)
        return fail_base(instance, {failure.id, reason}, std::move(logs), requestor);
    if (stopped) parts_.nodes.release_all_but_disk(*instance);
    return transition(
        failure.id,
        [reason, logs = std::move(logs)](Instance& changed) {
            if (!may_move(changed.status, InstanceStatus::error)) return false;
            changed.status = InstanceStatus::error;
            changed.error_message = reason;
            changed.stored_logs = logs;
            clear_reservation(changed);
            return true;
        },
        "container-failed", requestor, [this, instance] { tell_released(*instance); });
}

// It can never be started again: record and logs are all that is worth keeping.
OperationResult InstanceService::Implementation::fail_base(const Ptr& instance, const Failure& failure,
                                                           std::vector<std::string> logs,
                                                           const std::string& requestor) {
    if (remove_quietly(failure.id)) parts_.nodes.release_all(*instance);
    return transition(
        failure.id,
        [reason = failure.message, logs = std::move(logs)](Instance& changed) {
            if (!may_move(changed.status, InstanceStatus::error)) return false;
            changed.status = InstanceStatus::error;
            changed.error_message = reason;
            changed.stored_logs = logs;
            changed.end_hooks_due = false;
            changed.layers = {};
            clear_reservation(changed);
            return true;
        },
        "container-failed", requestor,
        [this, instance] {
            parts_.content.drop_layers(instance->layers);
            tell_released(*instance);
        });
}

OperationResult InstanceService::Implementation::clear_failed_base(const Ptr& instance) {
    parts_.runtime.remove(instance->id.str());
    parts_.nodes.release_all(*instance);
    return {};
}

// For a launch that leaves nothing: cancelled, or never scheduled. Somebody may protect the instance at this
// moment: that is asked in the commit.
OperationResult InstanceService::Implementation::forget_instance(const Ptr& instance, bool failed,
                                                                 const std::string& requestor) {
    const std::string id = instance->id.str();
    if (outlives_launch(*instance)) return fail_instance({id, cancelled_launch}, requestor);
    try {
        parts_.runtime.remove(id);
    } catch (const Error& e) {
        return fail_instance({id, "container could not be removed: " + std::string(e.what())}, requestor);
    }
    OperationResult gone = drop_record(instance, failed, requestor);
    OperationResult kept = keep_record(instance, requestor);
    OperationResult result;
    result.stage = [gone = gone.stage, kept = kept.stage](Batch& last) {
        gone(last);
        kept(last);
    };
    result.after = [gone = gone.after, kept = kept.after] {
        gone();
        kept();
    };
    return result;
}

OperationResult InstanceService::Implementation::drop_record(const Ptr& instance, bool failed,
                                                             const std::string& requestor) {
    const std::string id = instance->id.str();
    const auto applied = std::make_shared<bool>(false);
    OperationResult result;
    result.stage = [this, id, applied](Batch& last) {
        const auto now = parts_.instances.find(id);
        *applied = now && now->status != InstanceStatus::deleted && !outlives_launch(*now);
        if (*applied) parts_.instances.stage_remove(last, id);
    };
    result.after = [this, id, applied, failed, instance, requestor] {
        if (!*applied) return;
        parts_.nodes.release_all(*instance);
        if (failed) publish("container-failed", id, requestor);
        publish("container-removed", id, requestor);
        parts_.content.drop_layers(instance->layers);
        tell_released(*instance);
    };
    return result;
}

// Its container is gone already: the next start makes another one.
OperationResult InstanceService::Implementation::keep_record(const Ptr& instance,
                                                             const std::string& requestor) {
    return transition(
        instance->id.str(),
        [](Instance& changed) {
            if (!outlives_launch(changed) || !may_move(changed.status, InstanceStatus::error)) return false;
            changed.status = InstanceStatus::error;
            changed.error_message = cancelled_launch;
            clear_reservation(changed);
            return true;
        },
        "container-failed", requestor,
        [this, instance] {
            parts_.nodes.release_all_but_disk(*instance);
            tell_released(*instance);
        });
}

OperationResult InstanceService::Implementation::run_delete(OperationContext& context) {
    const Work work = Work::of(context.operation());
    const auto instance = parts_.instances.find(work.instance);
    if (!instance) return {};  // removed with the launch that this deletion has cancelled
    return run_ending(
        context, instance,
        [this, instance, force = work.force, requestor = context.operation().requestor](
            const std::stop_token& stop) { return delete_now(instance, force, requestor, stop); });
}

OperationResult InstanceService::Implementation::delete_now(const Ptr& instance, bool force,
                                                            const std::string& requestor,
                                                            const std::stop_token& stop) {
    const std::string id = instance->id.str();
    const bool graceful = !force && instance->type != InstanceType::base;
    if (const Found found = look(id); graceful && found.exists && !found.unreadable) {
        parts_.runtime.stop(id, stop_grace(*instance));
        run_end_hooks(instance, 0, stop);
    }
    parts_.runtime.remove(id);
    parts_.nodes.release_all(*instance);
    logs_.remove(id);
    OperationResult result;
    result.stage = [this, id](Batch& last) { parts_.instances.stage_remove(last, id); };
    result.after = [this, instance, requestor] {
        publish("container-removed", instance->id.str(), requestor);
        parts_.content.drop_layers(instance->layers);
        log::info("container deleted", {{"container", instance->id.str()}});
        tell_released(*instance);
    };
    return result;
}

// `error` lets the client try again, perhaps by force.
OperationResult InstanceService::Implementation::undo_delete(const Operation& operation, const Error& error) {
    const std::string id = Work::of(operation).instance;
    const auto instance = parts_.instances.find(id);
    if (!instance) return {};
    auto logs = collect_logs(id);
    const bool stopped = stop_quietly(id);
    if (stopped) parts_.nodes.release_all_but_disk(*instance);
    return transition(
        id,
        [reason = clipped("deletion failed: " + std::string(error.what()), max_error_bytes), stopped,
         logs = std::move(logs)](Instance& changed) {
            changed.status = InstanceStatus::error;
            changed.error_message = reason;
            if (!logs.empty()) changed.stored_logs = logs;
            if (stopped) {
                clear_reservation(changed);
                changed.status_when_readable = InstanceStatus::unknown;  // it cannot be that again
            }
            return true;
        },
        "container-failed", operation.requestor);
}

// After the guest has failed: why it did is what is told.
void InstanceService::Implementation::try_end_hooks(const Ptr& instance, const Failure& failure) {
    try {
        run_end_hooks(instance, failure.exit_code, failure.stop);
    } catch (const Error& e) {
        if (e.code() == ErrorCode::cancelled) throw;
        log::warning("hooks after the guest failed", {{"container", failure.id}, {"error", e.what()}});
    }
}

std::vector<std::string> InstanceService::Implementation::collect_logs(const std::string& id) {
    try {
        return logs_.collect(id, parts_.runtime.logs(id));
    } catch (const std::exception& e) {
        log::warning("logs cannot be collected", {{"container", id}, {"error", e.what()}});
        return {};
    }
}

// False: something of it may still run, so address and ports are not free. The reconciler tries again.
bool InstanceService::Implementation::stop_quietly(const std::string& id) {
    try {
        if (parts_.runtime.inspect(id)) parts_.runtime.stop(id, Duration::zero());
        return true;
    } catch (const std::exception& e) {
        log::error("failed container cannot be stopped", {{"container", id}, {"error", e.what()}});
        return false;
    }
}

bool InstanceService::Implementation::remove_quietly(const std::string& id) {
    try {
        parts_.runtime.remove(id);
        return true;
    } catch (const std::exception& e) {
        log::error("failed container cannot be removed", {{"container", id}, {"error", e.what()}});
        return false;
    }
}

}  // namespace svc
