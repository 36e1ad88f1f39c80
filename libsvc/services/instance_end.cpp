// Taking instances down: stop, failure, deletion.
#include <algorithm>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/services/instance_implementation.h"

namespace svc {

namespace {

// Address and ports may be somebody else's from now on.
void clear_reservation(Instance& instance) {
    instance.address.clear();
    for (ServiceEntry& service : instance.services) service.node_port = service.node_port_end = 0;
}

}  // namespace

OperationResult InstanceService::Implementation::run_stop(const Operation& operation) {
    const std::string id = Work::of(operation).instance;
    const auto instance = parts_.instances.find(id);
    if (!instance || instance->status == InstanceStatus::deleted) return {};
    const bool was_up =
        instance->status == InstanceStatus::started || instance->status == InstanceStatus::running;
    if (parts_.runtime.inspect(id))
        parts_.runtime.stop(id, was_up ? parts_.options.stop_grace : Duration::zero());
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
        "container-stopped", operation.requestor);
}

OperationResult InstanceService::Implementation::run_fail(const Operation& operation) {
    const Work work = Work::of(operation);
    const auto container = work.if_gone ? parts_.runtime.inspect(work.instance) : std::nullopt;
    if (container && container->state == ContainerState::running) return {};
    return fail_instance(work.instance, work.message, operation.requestor);
}

// Logs first: they go with the container. The disk stays reserved until the instance is deleted.
OperationResult InstanceService::Implementation::fail_instance(const std::string& id,
                                                               const std::string& message,
                                                               const std::string& requestor) {
    const auto instance = parts_.instances.find(id);
    if (!instance || instance->status == InstanceStatus::deleted) return {};
    const std::string reason = message.empty() ? "container failed for an unknown reason" : message;
    auto logs = collect_logs(id);
    if (stop_quietly(id)) parts_.nodes.release_all_but_disk(*instance);
    log::warning("container failed", {{"container", id}, {"error", reason}});
    return transition(
        id,
        [reason, logs = std::move(logs)](Instance& changed) {
            if (!may_move(changed.status, InstanceStatus::error)) return false;
            changed.status = InstanceStatus::error;
            changed.error_message = reason;
            changed.stored_logs = logs;
            clear_reservation(changed);
            return true;
        },
        "container-failed", requestor);
}

// For a launch that leaves nothing: cancelled, or never scheduled.
OperationResult InstanceService::Implementation::forget_instance(const Ptr& instance, bool failed,
                                                                 const std::string& requestor) {
    const std::string id = instance->id.str();
    try {
        parts_.runtime.remove(id);
    } catch (const Error& e) {
        return fail_instance(id, "container could not be removed: " + std::string(e.what()), requestor);
    }
    parts_.nodes.release_all(*instance);
    const auto applied = std::make_shared<bool>(false);
    OperationResult result;
    result.stage = [this, id, applied](Batch& last) {
        const auto now = parts_.instances.find(id);
        *applied = now && now->status != InstanceStatus::deleted;
        if (*applied) parts_.instances.stage_remove(last, id);
    };
    result.after = [this, id, applied, failed, layers = instance->layers, requestor] {
        if (!*applied) return;
        if (failed) publish("container-failed", id, requestor);
        publish("container-removed", id, requestor);
        parts_.content.drop_layers(layers);
    };
    return result;
}

OperationResult InstanceService::Implementation::run_delete(const Operation& operation) {
    const Work work = Work::of(operation);
    const auto instance = parts_.instances.find(work.instance);
    if (!instance) return {};  // removed with the launch that this deletion has cancelled
    if (!work.force && parts_.runtime.inspect(work.instance))
        parts_.runtime.stop(work.instance, parts_.options.stop_grace);
    parts_.runtime.remove(work.instance);
    parts_.nodes.release_all(*instance);
    logs_.remove(work.instance);
    OperationResult result;
    result.stage = [this, id = work.instance](Batch& last) { parts_.instances.stage_remove(last, id); };
    result.after = [this, id = work.instance, layers = instance->layers, requestor = operation.requestor] {
        publish("container-removed", id, requestor);
        parts_.content.drop_layers(layers);
        log::info("container deleted", {{"container", id}});
    };
    return result;
}

// `error` lets the client try again, perhaps by force.
OperationResult InstanceService::Implementation::undo_delete(const Operation& operation, const Error& error) {
    return transition(
        Work::of(operation).instance,
        [reason = "deletion failed: " + std::string(error.what())](Instance& instance) {
            instance.status = InstanceStatus::error;
            instance.error_message = reason;
            return true;
        },
        "container-failed", operation.requestor);
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

}  // namespace svc
