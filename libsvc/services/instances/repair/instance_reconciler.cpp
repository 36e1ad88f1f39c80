#include "libsvc/services/instances/repair/instance_reconciler.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"

namespace svc {

namespace {

int last_number(const std::string& text) {
    const auto begin = text.find_last_not_of("0123456789") + 1;
    int number = 0;
    std::from_chars(text.data() + begin, text.data() + text.size(), number);
    return number;
}

// What the end hooks are told: "init exited with status 3", "init was killed by signal 9 (out of memory)".
int exit_code_of(const RuntimeEvent& event) {
    if (event.clean) return 0;
    const std::string reason = event.reason.substr(0, event.reason.find(" ("));
    const int number = last_number(reason);
    if (number <= 0 || number > 255) return 1;
    return reason.find("signal") == std::string::npos ? number : 128 + number;
}

// True of nearly all instances: nothing more needs to be looked at.
bool agree(const Instance& instance, const FoundContainer& found) {
    if (instance.status == InstanceStatus::running) return found.runs && found.frozen == instance.paused;
    return instance.status == InstanceStatus::stopped && !found.runs;
}

Error cannot_be_read(const ContainerInfo& container) {
    return {ErrorCode::unavailable, "container cannot be read: " + container.fault};
}

bool ended_by_itself(const Instance& instance) {
    return instance.status == InstanceStatus::stopped && instance.type == InstanceType::regular &&
           !instance.stop_requested && !instance.no_start && !instance.config->delete_protected;
}

}  // namespace

InstanceReconciler::InstanceReconciler(Instances& instances, Runtime& runtime, Engine& engine,
                                       const Clock& clock, const BootClock& boot_clock, Duration linger,
                                       PendingBoots& boots, InstanceRepair& repair, InstanceReports& reports,
                                       InstanceDeletions& deletions)
    : instances_(instances),
      runtime_(runtime),
      engine_(engine),
      clock_(clock),
      boot_clock_(boot_clock),
      linger_(linger),
      boots_(boots),
      repair_(repair),
      reports_(reports),
      deletions_(deletions) {}

void InstanceReconciler::on_runtime_event(const RuntimeEvent& event) {
    const auto instance = instances_.find(event.id);
    if (!instance) return;
    switch (event.kind) {
        case RuntimeEvent::Kind::stopped:
            return container_stopped(*instance, event);
        case RuntimeEvent::Kind::agent_died:
            log::warning("agent of a container died", {{"container", event.id}, {"reason", event.reason}});
            return;
    }
}

void InstanceReconciler::container_stopped(const Instance& instance, const RuntimeEvent& event) {
    const std::string& id = instance.id.str();
    std::string reason = event.reason;
    if (reason.empty())
        reason = event.clean ? "instance stopped before it was running" : "container stopped unexpectedly";
    if (boots_.settle(id, Error(ErrorCode::internal, reason)) || !may_be_up(instance.status)) return;
    const char* const kind = event.clean ? "instance.stop" : "instance.fail";
    repair_.start_or_check(kind, {.instance = id, .exit_code = exit_code_of(event), .message = reason});
}

void InstanceReconciler::reconcile() {
    reports_.forget_removed();
    const auto containers = without_unrecorded(runtime_.list());
    for (const auto& instance : instances_.list()) {
        const std::string& id = instance->id.str();
        const auto at = std::ranges::lower_bound(containers, id, {}, &ContainerInfo::id);
        const bool exists = at != containers.end() && at->id == id;
        const FoundContainer found = exists ? FoundContainer::of(*at) : FoundContainer{};
        // Its guest cannot report. What it does meanwhile is seen when the container can be read again.
        if (found.unreadable) boots_.settle(id, cannot_be_read(*at));
        if (found.unreadable || !agree(*instance, found)) repair_.repair(id, found);
    }
}

// A container is made after its record and removed before it, so one without a record belongs to no instance.
// One that cannot be read, or whose record cannot be read, may be more than that, and is left to the
// operator. Ordered by id.
std::vector<ContainerInfo> InstanceReconciler::without_unrecorded(std::vector<ContainerInfo> containers) {
    std::ranges::sort(containers, {}, &ContainerInfo::id);
    std::vector<ContainerInfo> recorded;
    recorded.reserve(containers.size());
    for (const ContainerInfo& container : containers) {
        if (belongs_to_an_instance(container))
            recorded.push_back(container);
        else if (container.state != ContainerState::unreadable)
            remove(container, static_cast<std::size_t>(
                                  std::ranges::count(containers, container.id, &ContainerInfo::id)));
    }
    return recorded;
}

// The runtime is asked by id: of two of one id it might remove the wrong one.
void InstanceReconciler::remove(const ContainerInfo& container, std::size_t of_its_id) {
    if (of_its_id > 1)
        return log::error("container is on a second node",
                          {{"container", container.id}, {"node", container.node}});
    try {
        runtime_.remove(container.id);
        log::warning("container without a record removed", {{"container", container.id}});
    } catch (const Error& e) {
        log::error("container without a record cannot be removed",
                   {{"container", container.id}, {"error", e.what()}});
    }
}

// A launch that was cut off may have left a container on a node, and have chosen another node after that.
// While an operation holds the instance, it sees to the container.
bool InstanceReconciler::belongs_to_an_instance(const ContainerInfo& container) const {
    const auto instance = instances_.find(container.id);
    if (!instance) return instances_.find_unreadable(container.id).has_value();
    const bool elsewhere =
        !container.node.empty() && !instance->node.empty() && *instance->node != container.node;
    return !elsewhere || engine_.claimed(instance_claim(container.id));
}

// By the date where the machine was booted in between.
Duration InstanceReconciler::since_stop(const Instance& instance) const {
    return boot_clock_.since(instance.stop_mark).value_or(clock_.now() - instance.stopped_at);
}

void InstanceReconciler::expire() {
    for (const auto& instance : instances_.list()) {
        const std::string& id = instance->id.str();
        if (!ended_by_itself(*instance) || since_stop(*instance) < linger_) continue;
        if (engine_.claimed(instance_claim(id))) continue;  // it is being started again
        try {
            deletions_.start({.instance = id}, PathWord::containers, "service");
        } catch (const Error& e) {
            log::warning("stopped container cannot be removed", {{"container", id}, {"error", e.what()}});
        }
    }
}

}  // namespace svc
