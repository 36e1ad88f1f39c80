// Compares records with what the runtime has, and repairs both ways. All repairs are operations, so they
// claim their instance like everything else and look again once they hold it.
#include <map>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/services/instance_implementation.h"

namespace svc {

namespace {

constexpr Duration check_pause = std::chrono::seconds(1);

}  // namespace

void InstanceService::Implementation::on_runtime_event(const RuntimeEvent& event) {
    const auto instance = parts_.instances.find(event.id);
    if (!instance) return;
    switch (event.kind) {
        case RuntimeEvent::Kind::stopped:
            return container_stopped(instance, event);
        case RuntimeEvent::Kind::agent_died:
            log::warning("agent of a container died", {{"container", event.id}, {"reason", event.reason}});
            return;
    }
}

void InstanceService::Implementation::container_stopped(const Ptr& instance, const RuntimeEvent& event) {
    const std::string& id = instance->id.str();
    std::string reason = event.reason;
    if (reason.empty())
        reason = event.clean ? "instance stopped before it was running" : "container stopped unexpectedly";
    if (boots_.settle(id, Error(ErrorCode::internal, reason))) return;
    const bool was_up =
        instance->status == InstanceStatus::started || instance->status == InstanceStatus::running;
    if (!was_up) return;
    const char* const kind = event.clean ? "instance.stop" : "instance.fail";
    if (!start_own(kind, {id, false, false, false, reason})) check_later(id);
}

// What is going on with the instance may end with a record that says `running`.
void InstanceService::Implementation::check_later(const std::string& id) {
    timer_.after(check_pause, [this, id] {
        if (parts_.engine.claimed("instances/" + id)) return check_later(id);
        const auto container = parts_.runtime.inspect(id);
        repair(id, container && container->state == ContainerState::running);
    });
}

void InstanceService::Implementation::reconcile() {
    const auto containers = parts_.runtime.list();
    remove_strangers(containers);
    std::map<std::string, bool> runs;
    for (const ContainerInfo& container : containers)
        runs.emplace(container.id, container.state == ContainerState::running);
    for (const auto& instance : parts_.instances.list()) {
        const auto found = runs.find(instance->id.str());
        repair(instance->id.str(), found != runs.end() && found->second);
    }
}

// A container is made after its record and removed before it: without a record it is nobody's.
void InstanceService::Implementation::remove_strangers(const std::vector<ContainerInfo>& containers) {
    for (const ContainerInfo& container : containers) {
        if (parts_.instances.find(container.id)) continue;
        try {
            parts_.runtime.remove(container.id);
            log::warning("container without a record removed", {{"container", container.id}});
        } catch (const Error& e) {
            log::error("container without a record cannot be removed",
                       {{"container", container.id}, {"error", e.what()}});
        }
    }
}

void InstanceService::Implementation::repair(const std::string& id, bool container_runs) {
    if (parts_.engine.claimed("instances/" + id)) return;  // somebody is at it
    const auto instance = parts_.instances.find(id);
    if (!instance) return;
    Work work{id, false, false, false, ""};
    switch (instance->status) {
        case InstanceStatus::created:
            work.message = "launch was interrupted";
            start_own("instance.fail", work);
            break;
        case InstanceStatus::prepared:
            if (!instance->no_start) start_own("instance.start", work);
            break;
        case InstanceStatus::started:
            start_own("instance.start", work);
            break;
        case InstanceStatus::running:
            work.message = "container is gone";
            work.if_gone = true;
            if (!container_runs) start_own("instance.fail", work);
            break;
        case InstanceStatus::stopped:
        case InstanceStatus::error:
            if (container_runs) start_own("instance.stop", work);
            break;
        case InstanceStatus::deleted:
            start_own("instance.delete", work);
            break;
        case InstanceStatus::unknown:
            break;
    }
}

// What ended by itself has nobody who would delete it.
void InstanceService::Implementation::expire() {
    const Time latest = parts_.clock.now() - parts_.options.linger;
    for (const auto& instance : parts_.instances.list()) {
        const bool ended_by_itself = instance->status == InstanceStatus::stopped &&
                                     instance->type == InstanceType::regular && !instance->stop_requested &&
                                     !instance->no_start;
        if (!ended_by_itself || instance->stopped_at > latest) continue;
        if (parts_.engine.claimed("instances/" + instance->id.str())) continue;  // it is being started again
        try {
            remove(instance->id.str(), false, PathWord::containers, "service");
        } catch (const Error& e) {
            log::warning("stopped container cannot be removed",
                         {{"container", instance->id.str()}, {"error", e.what()}});
        }
    }
}

}  // namespace svc
