#include "libsvc/services/instances/repair/unreadable_instances.h"

#include <utility>

#include "libsvc/services/instances/repair/unpublished_events.h"

namespace svc {

namespace {

// The action of the event that tells of a return to `status`.
std::string_view move_to(InstanceStatus status, bool paused) {
    if (status == InstanceStatus::running && paused) return "container-paused";
    return status == InstanceStatus::error ? "" : action_of(status);
}

}  // namespace

OperationResult set_aside(InstanceChanges& changes, const Instance& instance, const std::string& fault,
                          const std::string& requestor) {
    return changes.transition(
        instance.id.str(),
        [reason = "container cannot be read: " + fault](Instance& changed) {
            if (is_set_aside(changed) || changed.status == InstanceStatus::deleted) return false;
            changed.status_when_readable = changed.status;
            if (changed.status != InstanceStatus::error) changed.error_message = reason;
            changed.status = InstanceStatus::error;
            return true;
        },
        "container-failed", requestor);
}

OperationResult take_back(InstanceChanges& changes, const Instance& instance, const std::string& requestor,
                          std::function<void()> then) {
    const InstanceStatus status = instance.status_when_readable;
    return changes.transition(
        instance.id.str(),
        [status](Instance& changed) {
            if (status == InstanceStatus::unknown || changed.status_when_readable != status) return false;
            changed.status = status;
            changed.status_when_readable = InstanceStatus::unknown;
            if (status != InstanceStatus::error) changed.error_message = {};
            return true;
        },
        move_to(status, instance.paused), requestor, std::move(then));
}

}  // namespace svc
