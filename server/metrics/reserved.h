#pragma once
// Which instances have resources of a node.
#include "libsvc/model/instances/instance.h"

namespace svc::server {

// CPUs, memory and GPU slots are reserved from `prepared` until the instance stops or fails.
inline bool holds_resources(const Instance& instance) {
    return instance.status == InstanceStatus::prepared || instance.status == InstanceStatus::started ||
           instance.status == InstanceStatus::running;
}

}  // namespace svc::server
