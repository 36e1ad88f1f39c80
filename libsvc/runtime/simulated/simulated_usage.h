#pragma once
// What a simulated container would use, from its limits and the time it has run. Pure.
#include "libsvc/base/clock.h"
#include "libsvc/runtime/usage.h"

namespace svc {

struct SimulatedLimits {
    double cpus = 0;  // 0: none, in each
    std::uint64_t memory_bytes = 0, disk_bytes = 0;
    std::uint32_t processes = 0;
};

ContainerUsage simulated_usage(std::string id, const SimulatedLimits& limits, Duration uptime);

}  // namespace svc
