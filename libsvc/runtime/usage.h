#pragma once
// What a running container uses. A value that this machine cannot measure is absent. Plain values.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace svc {

struct TrafficCount {
    std::uint64_t bytes = 0;
    std::uint64_t packets = 0;
    std::uint64_t errors = 0;
    std::uint64_t dropped = 0;
};

// One network device, as the container sees it.
struct NetworkUsage {
    std::string device;  // "eth0"
    TrafficCount received, sent;
};

// Counters start at 0 with each start of the container.
struct ContainerUsage {
    std::string id;
    std::optional<double> cpu_user_seconds, cpu_system_seconds;
    std::optional<std::uint64_t> memory_bytes;
    std::optional<std::uint64_t> memory_limit_bytes;  // absent: none
    std::optional<std::uint64_t> memory_peak_bytes;
    std::optional<std::uint64_t> oom_kills;
    std::optional<std::uint64_t> processes;
    std::optional<std::uint64_t> process_limit;  // absent: none
    std::optional<std::uint64_t> disk_bytes;     // of the writable layer
    std::optional<std::uint64_t> disk_limit_bytes;
    std::vector<NetworkUsage> network;
};

}  // namespace svc
