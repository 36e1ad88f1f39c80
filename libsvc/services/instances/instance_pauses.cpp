#include "libsvc/services/instances/instance_pauses.h"

#include <utility>

#include "libsvc/base/failpoint.h"

namespace svc {

// A deletion that waits for the end of this operation sees to the instance.
bool InstancePauses::is_up(const std::string& id) const {
    const auto instance = instances_.find(id);
    return instance && instance->status == InstanceStatus::running;
}

OperationResult InstancePauses::run_pause(const Operation& operation) {
    const std::string id = InstanceWork::of(operation).instance;
    if (!is_up(id)) return {};
    runtime_.freeze(id);
    failpoint("pause.frozen");
    return note_pause(changes_, id, true, operation.requestor);
}

OperationResult InstancePauses::run_resume(const Operation& operation) {
    const std::string id = InstanceWork::of(operation).instance;
    if (!is_up(id)) return {};
    runtime_.thaw(id);
    failpoint("pause.thawed");
    return note_pause(changes_, id, false, operation.requestor);
}

OperationResult InstancePauses::undo(const Operation& operation) {
    const std::string id = InstanceWork::of(operation).instance;
    const auto container = runtime_.inspect(id);
    if (!container || container->state != ContainerState::running) return {};
    return note_pause(changes_, id, container->frozen, operation.requestor);
}

OperationResult note_pause(InstanceChanges& changes, const std::string& id, bool frozen,
                           const std::string& requestor) {
    return changes.transition(
        id,
        [frozen](Instance& changed) {
            return changed.status == InstanceStatus::running &&
                   std::exchange(changed.paused, frozen) != frozen;
        },
        frozen ? "container-paused" : "container-resumed", requestor);
}

}  // namespace svc
