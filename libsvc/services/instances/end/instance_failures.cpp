#include "libsvc/services/instances/end/instance_failures.h"

#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/failpoint.h"
#include "libsvc/base/log.h"
#include "libsvc/model/instances/guest_text.h"
#include "libsvc/services/instances/end/release_after_commit.h"
#include "libsvc/services/instances/repair/unreadable_instances.h"

namespace svc {

InstanceFailures::InstanceFailures(Instances& instances, Runtime& runtime, NodeService& nodes,
                                   Content& content, const StoredLogs& logs, EndHooks& hooks,
                                   InstanceChanges& changes)
    : instances_(instances),
      runtime_(runtime),
      nodes_(nodes),
      content_(content),
      logs_(logs),
      hooks_(hooks),
      changes_(changes) {}

OperationResult InstanceFailures::run(OperationContext& context) {
    const InstanceWork work = InstanceWork::of(context.operation());
    const auto container = work.if_gone ? runtime_.inspect(work.instance) : std::nullopt;
    if (container && container->state == ContainerState::running) return {};
    const auto instance = instances_.find(work.instance);
    if (!instance) return {};
    return hooks_.run_around(
        context, *instance, Duration::zero(),
        [this, work, requestor = context.operation().requestor](const std::stop_token& stop) {
            return fail({work.instance, work.message, work.exit_code, stop}, requestor);
        });
}

OperationResult InstanceFailures::fail(const InstanceFailure& failure, const std::string& requestor) {
    const auto instance = instances_.find(failure.id);
    if (!instance || instance->status == InstanceStatus::deleted) return {};
    const auto container = runtime_.inspect(failure.id);
    if (container && container->state == ContainerState::unreadable && instance->type != InstanceType::base)
        return set_aside(changes_, *instance, container->fault, requestor);
    const std::string reason = failure.message.empty() ? "container failed for an unknown reason"
                                                       : clipped(failure.message, max_error_bytes);
    const bool stopped = stop_container(failure.id);
    if (stopped) try_end_hooks(*instance, failure);
    failpoint("failure.stopped");
    auto logs = collect_logs(failure.id);
    log::warning("container failed", {{"container", failure.id}, {"error", reason}});
    if (instance->type == InstanceType::base) return fail_base(instance, reason, std::move(logs), requestor);
    auto ended = changes_.transition(
        failure.id,
        [reason, logs](Instance& changed) {
            if (!may_move(changed.status, InstanceStatus::error)) return false;
            changed.status = InstanceStatus::error;
            changed.error_message = reason;
            changed.stored_logs = logs;
            clear_reservation(changed);
            return true;
        },
        "container-failed", requestor, [this, instance] { changes_.tell_released(*instance); });
    ended = settle_logs(std::move(ended), instance, std::move(logs));
    return stopped ? release_after_commit(std::move(ended), instances_, nodes_, instance, true) : ended;
}

// It can never be started again: record and logs are all that is worth keeping.
OperationResult InstanceFailures::fail_base(const InstancePtr& instance, const std::string& reason,
                                            std::vector<StoredLog> logs, const std::string& requestor) {
    const std::string id = instance->id.str();
    const bool removed = remove_container(id);
    auto ended = changes_.transition(
        id,
        [reason, logs](Instance& changed) {
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
            content_.drop_layers(instance->layers);
            changes_.tell_released(*instance);
        });
    ended = settle_logs(std::move(ended), instance, std::move(logs));
    return removed ? release_after_commit(std::move(ended), instances_, nodes_, instance, false) : ended;
}

OperationResult InstanceFailures::clear_base(const Instance& instance) {
    runtime_.remove(instance.id.str());
    nodes_.release_all(instance);
    return {};
}

// The reason of the instance's failure is that of its guest, so a failure of the hooks is only logged.
void InstanceFailures::try_end_hooks(const Instance& instance, const InstanceFailure& failure) {
    try {
        hooks_.run(instance, failure.exit_code, failure.stop);
    } catch (const Error& e) {
        if (e.code() == ErrorCode::cancelled) throw;
        log::warning("hooks after the guest failed", {{"container", failure.id}, {"error", e.what()}});
    }
}

OperationResult InstanceFailures::settle_logs(OperationResult ended, const InstancePtr& before,
                                              std::vector<StoredLog> collected) {
    ended.after = [this, before, collected = std::move(collected), tell = std::move(ended.after)] {
        const auto now = instances_.find(before->id.str());
        const bool taken = now && now->stored_logs == collected;
        logs_.drop(before->id.str(), taken ? before->stored_logs : collected);
        if (tell) tell();
    };
    return ended;
}

std::vector<StoredLog> InstanceFailures::collect_logs(const std::string& id) {
    try {
        return logs_.collect(id, runtime_.logs(id));
    } catch (const std::exception& e) {
        log::warning("logs cannot be collected", {{"container", id}, {"error", e.what()}});
        return {};
    }
}

bool InstanceFailures::stop_container(const std::string& id) {
    try {
        if (runtime_.inspect(id)) runtime_.stop(id, Duration::zero());
        return true;
    } catch (const std::exception& e) {
        log::error("failed container cannot be stopped", {{"container", id}, {"error", e.what()}});
        return false;
    }
}

bool InstanceFailures::remove_container(const std::string& id) {
    try {
        runtime_.remove(id);
        return true;
    } catch (const std::exception& e) {
        log::error("failed container cannot be removed", {{"container", id}, {"error", e.what()}});
        return false;
    }
}

}  // namespace svc
