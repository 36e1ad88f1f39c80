#pragma once
// Invented usage of a simulated container, from its limits and the time it has run. Pure function.
#include "libsvc/base/clock.h"
#include "libsvc/runtime/usage.h"

namespace svc {

struct SimulatedLimits {
    double cpus = 0;  // in all fields, 0: no limit
    std::uint64_t memory_bytes = 0, disk_bytes = 0;
    std::uint32_t processes = 0;
};

ContainerUsage simulated_usage(std::string id, const SimulatedLimits& limits, Duration uptime);

}  // namespace svc
