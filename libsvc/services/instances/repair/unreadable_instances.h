#pragma once
// Instances whose container cannot be read: their record is an error until it can, and remembers what it was.
#include <string>

#include "libsvc/services/instances/instance_changes.h"
#include "libsvc/services/instances/instance_work.h"

namespace svc {

// Sets the instance aside: the container may run, with its address and ports, so nothing is released.
OperationResult set_aside(InstanceChanges& changes, const Instance& instance, const std::string& fault,
                          const std::string& requestor);

// The container can be read again: restores the status from before set_aside(); the reconciler corrects it
// if it is outdated. `then` runs when the status is stored.
OperationResult take_back(InstanceChanges& changes, const Instance& instance, const std::string& requestor,
                          std::function<void()> then);

inline bool is_set_aside(const Instance& instance) {
    return instance.status_when_readable != InstanceStatus::unknown;
}

}  // namespace svc
