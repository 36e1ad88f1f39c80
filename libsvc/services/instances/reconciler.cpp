// Compares records with what the runtime has, and repairs both ways. All repairs are operations, so they
// claim their instance like everything else and look again once they hold it.
#include <algorithm>
#include <charconv>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/services/instances/instance_implementation.h"

namespace svc {

namespace {

constexpr Duration check_pause = std::chrono::seconds(1);

int last_number(const std::string& text) {
    const auto begin = text.find_last_not_of("0123456789") + 1;
    int number = 0;
    std::from_chars(text.data() + begin, text.data() + text.size(), number);
    return number;
}

// What the hooks after the guest are told: "init exited with status 3", "init was killed by signal 9 (out of
// memory)".
int exit_code_of(const RuntimeEvent& event) {
    if (event.clean) return 0;
    const std::string reason = event.reason.substr(0, event.reason.find(" ("));
    const int number = last_number(reason);
    if (number <= 0 || number > 255) return 1;
    return reason.find("signal") == std::string::npos ? number : 128 + number;
}

// Of nearly all instances nothing more needs to be asked.
bool agree(InstanceStatus status, bool runs) {
    return (status == InstanceStatus::running && runs) || (status == InstanceStatus::stopped && !runs);
}

// The action of the event that tells of it.
const char* move_to(InstanceStatus status) {
    switch (status) {
        case InstanceStatus::created:
            return "container-created";
        case InstanceStatus::prepared:
            return "container-scheduled";
        case InstanceStatus::started:
            return "container-started";
        case InstanceStatus::running:
            return "container-running";
        case InstanceStatus::stopped:
            return "container-stopped";
        default:
            return "";
    }
}

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
    start_or_check(kind, {.instance = id, .exit_code = exit_code_of(event), .message = reason});
}

void InstanceService::Implementation::start_or_check(const char* kind, const Work& work) {
    if (parts_.engine.claimed("instances/" + work.instance) || !start_own(kind, work))
        check_later(work.instance);
}

// What is going on with the instance may end with a record that says `running`. However often this is asked
// for, one check is due.
void InstanceService::Implementation::check_later(const std::string& id) {
    if (!checks_.with([&](auto& ids) { return ids.insert(id).second; })) return;
    timer_.after(check_pause, [this, id] {
        checks_.with([&](auto& ids) { ids.erase(id); });
        if (parts_.engine.claimed("instances/" + id)) return check_later(id);
        repair(id, look(id));
    });
}

InstanceService::Implementation::Found InstanceService::Implementation::found_in(
    const ContainerInfo& container) {
    return {true, container.state == ContainerState::running, container.state == ContainerState::unreadable};
}

InstanceService::Implementation::Found InstanceService::Implementation::look(const std::string& id) {
    const auto container = parts_.runtime.inspect(id);
    return container ? found_in(*container) : Found{};
}

void InstanceService::Implementation::reconcile() {
    reports_.forget_all_but([this](std::string_view id) { return parts_.instances.find(id) != nullptr; });
    auto containers = parts_.runtime.list();
    remove_strangers(containers);
    std::ranges::sort(containers, {}, &ContainerInfo::id);
    for (const auto& instance : parts_.instances.list()) {
        const std::string& id = instance->id.str();
        const auto at = std::ranges::lower_bound(containers, id, {}, &ContainerInfo::id);
        const bool exists = at != containers.end() && at->id == id;
        const Found found = exists ? found_in(*at) : Found{};
        if (found.unreadable || !agree(instance->status, found.runs)) repair(id, found);
    }
}

// A container is made after its record and removed before it: without a record it is nobody's. One that
// cannot be read may be more than that, and waits for somebody who knows.
void InstanceService::Implementation::remove_strangers(const std::vector<ContainerInfo>& containers) {
    for (const ContainerInfo& container : containers) {
        if (parts_.instances.find(container.id) || container.state == ContainerState::unreadable) continue;
        try {
            parts_.runtime.remove(container.id);
            log::warning("container without a record removed", {{"container", container.id}});
        } catch (const Error& e) {
            log::error("container without a record cannot be removed",
                       {{"container", container.id}, {"error", e.what()}});
        }
    }
}

void InstanceService::Implementation::repair(const std::string& id, const Found& found) {
    if (parts_.engine.claimed("instances/" + id)) return;  // somebody is at it
    const auto instance = parts_.instances.find(id);
    if (!instance) return;
    if (waits_to_be_read(*instance, found)) return;
    const bool base = instance->type == InstanceType::base;
    const auto interrupted = [&] {
        start_own("instance.fail", {.instance = id, .exit_code = 1, .message = "launch was interrupted"});
    };
    switch (instance->status) {
        case InstanceStatus::created:
            interrupted();
            break;
        case InstanceStatus::prepared:
        case InstanceStatus::started:
            if (base)
                interrupted();
            else if (instance->status == InstanceStatus::started || !instance->no_start)
                start_own("instance.start", {.instance = id});
            break;
        case InstanceStatus::running:
            if (!found.runs)
                start_own("instance.fail",
                          {.instance = id, .if_gone = true, .exit_code = 1, .message = "container is gone"});
            break;
        case InstanceStatus::stopped:
        case InstanceStatus::error:
            if (found.runs || (found.exists && base && instance->status == InstanceStatus::error))
                start_own("instance.stop", {.instance = id});
            break;
        case InstanceStatus::deleted:
            start_own("instance.delete", {.instance = id});
            break;
        case InstanceStatus::unknown:
            break;
    }
}

// Nothing else is repaired of an instance whose container cannot be read, or could not when it was looked at
// last.
bool InstanceService::Implementation::waits_to_be_read(const Instance& instance, const Found& found) {
    if (instance.type == InstanceType::base || instance.status == InstanceStatus::deleted) return false;
    const bool is_set_aside = instance.status_when_readable != InstanceStatus::unknown;
    if (found.unreadable != is_set_aside) start_own("instance.recheck", {.instance = instance.id.str()});
    return found.unreadable || is_set_aside;
}

OperationResult InstanceService::Implementation::run_recheck(OperationContext& context) {
    const auto instance = parts_.instances.find(Work::of(context.operation()).instance);
    if (!instance || instance->status == InstanceStatus::deleted) return {};
    const auto container = parts_.runtime.inspect(instance->id.str());
    const std::string& requestor = context.operation().requestor;
    if (container && container->state == ContainerState::unreadable)
        return set_aside(instance, container->fault, requestor);
    return take_back(instance, requestor);
}

// The container may run, with its address and ports: nothing is released.
OperationResult InstanceService::Implementation::set_aside(const Ptr& instance, const std::string& fault,
                                                           const std::string& requestor) {
    return transition(
        instance->id.str(),
        [reason = "container cannot be read: " + fault](Instance& changed) {
            if (changed.status_when_readable != InstanceStatus::unknown) return false;
            if (changed.status == InstanceStatus::deleted) return false;
            changed.status_when_readable = changed.status;
            if (changed.status != InstanceStatus::error) changed.error_message = reason;
            changed.status = InstanceStatus::error;
            return true;
        },
        "container-failed", requestor);
}

// What it was before is true again, or is repaired from there like everything else.
OperationResult InstanceService::Implementation::take_back(const Ptr& instance,
                                                           const std::string& requestor) {
    const std::string id = instance->id.str();
    const InstanceStatus status = instance->status_when_readable;
    return transition(
        id,
        [status](Instance& changed) {
            if (status == InstanceStatus::unknown || changed.status_when_readable != status) return false;
            changed.status = status;
            changed.status_when_readable = InstanceStatus::unknown;
            if (status != InstanceStatus::error) changed.error_message = {};
            return true;
        },
        move_to(status), requestor, [this, id] { check_later(id); });
}

// What ended by itself has nobody who would delete it.
void InstanceService::Implementation::expire() {
    const Time latest = parts_.clock.now() - parts_.options.linger;
    for (const auto& instance : parts_.instances.list()) {
        const bool ended_by_itself = instance->status == InstanceStatus::stopped &&
                                     instance->type == InstanceType::regular && !instance->stop_requested &&
                                     !instance->no_start && !instance->config->delete_protected;
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
