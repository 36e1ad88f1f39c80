#include "libsvc/services/instances/repair/instance_repair.h"

#include <utility>

#include "libsvc/base/log.h"
#include "libsvc/services/instances/instance_pauses.h"
#include "libsvc/services/instances/repair/unreadable_instances.h"

namespace svc {

namespace {

constexpr Duration check_pause = std::chrono::seconds(1);

}  // namespace

InstanceRepair::InstanceRepair(Instances& instances, Runtime& runtime, Engine& engine, Timer& timer,
                               InstanceChanges& changes, Specify specify)
    : instances_(instances),
      runtime_(runtime),
      engine_(engine),
      timer_(timer),
      changes_(changes),
      specify_(std::move(specify)) {}

void InstanceRepair::start_or_check(const char* kind, const InstanceWork& work) {
    if (engine_.claimed(instance_claim(work.instance)) || !start_repair(engine_, kind, work))
        check_later(work.instance);
}

// The operation that holds the instance now may end with a record that says `running`.
void InstanceRepair::check_later(const std::string& id) {
    if (!due_.with([&](auto& ids) { return ids.insert(id).second; })) return;
    timer_.after(check_pause, [this, id] {
        due_.with([&](auto& ids) { ids.erase(id); });
        if (engine_.claimed(instance_claim(id))) return check_later(id);
        repair(id, FoundContainer::look(runtime_, id));
    });
}

void InstanceRepair::start(const char* kind, const InstanceWork& work) {
    start_repair(engine_, kind, work);
}

void InstanceRepair::fail_interrupted(const std::string& id) {
    start("instance.fail", {.instance = id, .exit_code = 1, .message = "launch was interrupted"});
}

void InstanceRepair::repair(const std::string& id, const FoundContainer& found) {
    if (engine_.claimed(instance_claim(id))) return;  // that operation sees to it
    const auto instance = instances_.find(id);
    if (!instance || waits_to_be_read(*instance, found)) return;
    const bool failed_base =
        instance->type == InstanceType::base && instance->status == InstanceStatus::error;
    switch (instance->status) {
        case InstanceStatus::created:
        case InstanceStatus::prepared:
        case InstanceStatus::started:
            repair_unfinished(*instance);
            break;
        case InstanceStatus::running:
            if (!found.runs)
                start("instance.fail",
                      {.instance = id, .if_gone = true, .exit_code = 1, .message = "container is gone"});
            else if (found.frozen != instance->paused)
                start("instance.recheck", {.instance = id});
            break;
        case InstanceStatus::stopped:
        case InstanceStatus::error:
            if (found.runs || (found.exists && failed_base)) start("instance.stop", {.instance = id});
            break;
        case InstanceStatus::deleted:
            start("instance.delete", {.instance = id});
            break;
        case InstanceStatus::unknown:
            break;
    }
}

// No operation brings it up any more.
void InstanceRepair::repair_unfinished(const Instance& instance) {
    const std::string& id = instance.id.str();
    if (instance.status == InstanceStatus::created || instance.type == InstanceType::base)
        return fail_interrupted(id);
    if (instance.status == InstanceStatus::started || !instance.no_start)
        start("instance.start", {.instance = id});
}

// Nothing else is repaired of an instance whose container cannot be read, or could not when it was looked at
// last.
bool InstanceRepair::waits_to_be_read(const Instance& instance, const FoundContainer& found) {
    if (instance.type == InstanceType::base || instance.status == InstanceStatus::deleted) return false;
    if (found.unreadable != is_set_aside(instance) || found.specification_lost)
        start("instance.recheck", {.instance = instance.id.str()});
    return found.unreadable || is_set_aside(instance);
}

OperationResult InstanceRepair::run_recheck(OperationContext& context) {
    const auto instance = instances_.find(InstanceWork::of(context.operation()).instance);
    if (!instance || instance->status == InstanceStatus::deleted) return {};
    const std::string id = instance->id.str();
    auto container = runtime_.inspect(id);
    if (container && container->specification_lost && recreate_container_spec(*instance))
        container = runtime_.inspect(id);
    const std::string& requestor = context.operation().requestor;
    if (container && container->state == ContainerState::unreadable)
        return set_aside(changes_, *instance, container->fault, requestor);
    const bool runs = container && container->state == ContainerState::running;
    if (runs && instance->status == InstanceStatus::running && container->frozen != instance->paused)
        return note_pause(changes_, id, container->frozen, requestor);
    if (!is_set_aside(*instance)) check_later(id);
    return take_back(changes_, *instance, requestor, [this, id] { check_later(id); });
}

// The record of the instance tells all that its container was made with.
bool InstanceRepair::recreate_container_spec(const Instance& instance) {
    try {
        runtime_.recreate_spec(specify_(instance));
        return true;
    } catch (const std::exception& e) {
        log::error("specification of a container cannot be made anew",
                   {{"container", instance.id.str()}, {"error", e.what()}});
        return false;
    }
}

}  // namespace svc
