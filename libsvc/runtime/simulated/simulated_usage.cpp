#include "libsvc/runtime/simulated/simulated_usage.h"

#include <algorithm>

namespace svc {

namespace {

// An idle guest: some memory, a few processes, a twentieth of its CPUs, a packet a second each way.
constexpr std::uint64_t idle_memory = std::uint64_t{64} << 20U;
constexpr std::uint64_t idle_disk = std::uint64_t{16} << 20U;
constexpr std::uint64_t idle_processes = 12;
constexpr double user_share = 0.04, system_share = 0.01;
constexpr std::uint64_t packet_bytes = 120;

std::optional<std::uint64_t> limit(std::uint64_t value) {
    return value == 0 ? std::nullopt : std::optional(value);
}

std::uint64_t within(std::uint64_t value, std::uint64_t limit) {
    return limit == 0 ? value : std::min(value, limit / 2);
}

}  // namespace

ContainerUsage simulated_usage(std::string id, const SimulatedLimits& limits, Duration uptime) {
    const double seconds = std::max(0.0, std::chrono::duration<double>(uptime).count());
    const double cpus = limits.cpus > 0 ? limits.cpus : 1;
    const auto packets = static_cast<std::uint64_t>(seconds);
    ContainerUsage usage;
    usage.id = std::move(id);
    usage.cpu_user_seconds = seconds * cpus * user_share;
    usage.cpu_system_seconds = seconds * cpus * system_share;
    usage.memory_bytes = usage.memory_peak_bytes = within(idle_memory, limits.memory_bytes);
    usage.memory_limit_bytes = limit(limits.memory_bytes);
    usage.oom_kills = 0;
    usage.processes = within(idle_processes, limits.processes);
    usage.process_limit = limit(limits.processes);
    usage.disk_bytes = within(idle_disk, limits.disk_bytes);
    usage.disk_limit_bytes = limit(limits.disk_bytes);
    const TrafficCount traffic{packets * packet_bytes, packets, 0, 0};
    usage.network.push_back({"eth0", traffic, traffic});
    return usage;
}

}  // namespace svc
