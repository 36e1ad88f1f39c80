#include "libsvc/services/instances/end/instance_stops.h"

#include <algorithm>
#include <utility>

#include "libsvc/base/failpoint.h"
#include "libsvc/services/instances/end/release_after_commit.h"

namespace svc {

namespace {

constexpr Duration hook_reserve = std::chrono::seconds(30);

}  // namespace

InstanceStops::InstanceStops(Instances& instances, Runtime& runtime, NodeService& nodes, const Clock& clock,
                             const BootClock& boot_clock, const BootLimit& limit, Duration grace,
                             EndHooks& hooks, InstanceFailures& failures, InstanceChanges& changes)
    : instances_(instances),
      runtime_(runtime),
      nodes_(nodes),
      clock_(clock),
      boot_clock_(boot_clock),
      limit_(limit),
      grace_(grace),
      hooks_(hooks),
      failures_(failures),
      changes_(changes) {}

// A guest whose packages have hooks may be in the middle of one. The guest of a bootstrap has nothing to
// lose.
Duration InstanceStops::grace(const Instance& instance) const {
    Duration grace = grace_;
    if (instance.type == InstanceType::base)
        return std::clamp(limit_.left(instance), Duration::zero(), grace);
    for (const PackageRef& package : instance.packages)
        if (!package.hooks.empty())
            grace = std::max(grace, std::chrono::seconds(package.hook_timeout_seconds) + hook_reserve);
    return grace;
}

OperationResult InstanceStops::run(OperationContext& context) {
    const InstanceWork work = InstanceWork::of(context.operation());
    const std::string requestor = context.operation().requestor;
    const auto instance = instances_.find(work.instance);
    if (!instance || instance->status == InstanceStatus::deleted) return {};
    if (instance->type == InstanceType::base) {
        if (instance->status == InstanceStatus::error) return failures_.clear_base(*instance);
        const bool came_up =
            instance->status == InstanceStatus::running || instance->status == InstanceStatus::stopped;
        if (!came_up) return failures_.fail({work.instance, "launch was interrupted"}, requestor);
    }
    return hooks_.run_around(context, *instance, grace_when_up(*instance),
                             [this, instance, work, requestor](const std::stop_token& stop_asked) {
                                 return stop(instance, work.exit_code, requestor, stop_asked);
                             });
}

Duration InstanceStops::grace_when_up(const Instance& instance) const {
    return may_be_up(instance.status) ? grace(instance) : Duration::zero();
}

OperationResult InstanceStops::stop(const InstancePtr& instance, int exit_code, const std::string& requestor,
                                    const std::stop_token& stop) {
    const std::string id = instance->id.str();
    if (runtime_.inspect(id)) runtime_.stop(id, grace_when_up(*instance));
    failpoint("stop.stopped");
    hooks_.run(*instance, exit_code, stop);
    auto ended = changes_.transition(
        id,
        [now = clock_.now(), mark = boot_clock_.mark()](Instance& changed) {
            if (!may_move(changed.status, InstanceStatus::stopped)) return false;
            changed.status = InstanceStatus::stopped;
            changed.stopped_at = now;
            changed.stop_mark = mark;
            clear_reservation(changed);
            return true;
        },
        "container-stopped", requestor, [this, instance] { changes_.tell_released(*instance); });
    return release_after_commit(std::move(ended), instances_, nodes_, instance, true);
}

// Either the guest could not be stopped, and goes on; or its end hooks failed.
OperationResult InstanceStops::undo(const Operation& operation, const Error& error) {
    const std::string id = InstanceWork::of(operation).instance;
    const auto instance = instances_.find(id);
    if (!instance || instance->status == InstanceStatus::deleted) return {};
    const auto container = runtime_.inspect(id);
    const bool runs = container && container->state == ContainerState::running;
    if (!runs || instance->type == InstanceType::base)
        return failures_.fail({id, error.what()}, operation.requestor);
    const bool resumed = instance->paused && !container->frozen;
    return changes_.transition(
        id,
        [resumed](Instance& changed) {
            if (resumed) changed.paused = false;
            return std::exchange(changed.stop_requested, false);
        },
        resumed ? "container-resumed" : "", operation.requestor);
}

}  // namespace svc
