#include "libsvc/runtime/lxc/host/limits.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cmath>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/presence.h"
#include "libsvc/base/strings.h"

namespace svc::lxc {

namespace {

namespace fs = std::filesystem;
constexpr std::uint64_t cpu_period = 100'000;  // microseconds

// The lines of the hierarchy that has the controller; none where neither has it.
std::string choose(const CgroupLayout& layout, std::string_view controller, std::string_view v1,
                   std::string_view v2) {
    if (layout.v1.contains(controller)) return fmt::format("{}\n", v1);
    if (layout.limits_in_v2(controller)) return fmt::format("{}\n", v2);
    return "";
}

std::string cpu_lines(const CgroupLayout& layout, const Limits& limits) {
    if (!limits.cores.empty()) {
        const std::string cores = fmt::format("{}", fmt::join(limits.cores, ","));
        return choose(layout, "cpuset", "lxc.cgroup.cpuset.cpus = " + cores,
                      "lxc.cgroup2.cpuset.cpus = " + cores);
    }
    if (limits.cpus <= 0) return "";
    const auto quota = std::max<std::uint64_t>(
        1000, static_cast<std::uint64_t>(std::llround(limits.cpus * static_cast<double>(cpu_period))));
    return choose(
        layout, "cpu",
        fmt::format("lxc.cgroup.cpu.cfs_period_us = {}\nlxc.cgroup.cpu.cfs_quota_us = {}", cpu_period, quota),
        fmt::format("lxc.cgroup2.cpu.max = {} {}", quota, cpu_period));
}

// Version 1 limits the sum of memory and swap.
std::string memory_lines(const CgroupLayout& layout, const Limits& limits, bool can_limit_swap) {
    if (limits.memory_bytes == 0) return "";
    std::string v1 = fmt::format("lxc.cgroup.memory.limit_in_bytes = {}", limits.memory_bytes);
    std::string v2 = fmt::format("lxc.cgroup2.memory.max = {}", limits.memory_bytes);
    if (can_limit_swap) {
        constexpr double most = 1ULL << 62U;
        const auto swap = static_cast<std::uint64_t>(
            std::min(most, static_cast<double>(limits.memory_bytes) * limits.swap_rate));
        v1 += fmt::format("\nlxc.cgroup.memory.memsw.limit_in_bytes = {}", limits.memory_bytes + swap);
        v2 += fmt::format("\nlxc.cgroup2.memory.swap.max = {}", swap);
    }
    return choose(layout, "memory", v1, v2);
}

std::string io_lines(const CgroupLayout& layout, const IoLimits& io, const std::string& device) {
    if (device.empty() || !io.any()) return "";
    std::vector<std::string> v1;
    std::string v2 = "lxc.cgroup2.io.max = " + device;
    const auto add = [&](std::uint64_t value, std::string_view key, std::string_view short_key) {
        if (value == 0) return;
        v1.push_back(fmt::format("lxc.cgroup.blkio.throttle.{}_device = {} {}", key, device, value));
        v2 += fmt::format(" {}={}", short_key, value);
    };
    add(io.read_bytes, "read_bps", "rbps");
    add(io.write_bytes, "write_bps", "wbps");
    add(io.read_operations, "read_iops", "riops");
    add(io.write_operations, "write_iops", "wiops");
    if (layout.v1.contains("blkio")) return join(v1, "\n") + "\n";
    return layout.limits_in_v2("io") ? v2 + "\n" : "";
}

// The file is in every group but the topmost one.
bool counts_swap(const CgroupLayout& layout) {
    if (const auto v1 = layout.v1.find("memory"); v1 != layout.v1.end())
        return fs::exists(v1->second / "memory.memsw.limit_in_bytes");
    if (!layout.limits_in_v2("memory")) return false;
    std::error_code failed;
    for (const auto& entry : fs::directory_iterator(layout.v2, failed))
        if (fs::exists(entry.path() / "memory.swap.max", failed)) return true;
    return false;
}

// Only whole disks can be limited. Empty for a file system that is not on one disk.
std::string disk_of(const fs::path& path) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0) return "";
    fs::path device = fmt::format("/sys/dev/block/{}:{}", major(info.st_dev), minor(info.st_dev));
    std::error_code failed;
    if (fs::exists(device / "partition", failed)) device = fs::canonical(device, failed).parent_path();
    return std::string(trim(read_or_empty(device / "dev", 64)));
}

}  // namespace

LimitSupport detect_limit_support(const CgroupLayout& layout, const fs::path& state_dir) {
    LimitSupport support;
    support.swap = counts_swap(layout);
    support.device = disk_of(state_dir);
    if (!layout.v1.contains("blkio") && !layout.limits_in_v2("io"))
        support.io_unsupported = "the machine has no control groups for it";
    else if (support.device.empty())
        support.io_unsupported = "the state directory's file system is not on one disk";
    if (!support.io_unsupported.empty()) support.device.clear();
    return support;
}

std::string limit_lines(const CgroupLayout& layout, const Limits& limits, const LimitSupport& support) {
    std::string lines = cpu_lines(layout, limits) + memory_lines(layout, limits, support.swap);
    if (limits.processes > 0)
        lines += choose(layout, "pids", fmt::format("lxc.cgroup.pids.max = {}", limits.processes),
                        fmt::format("lxc.cgroup2.pids.max = {}", limits.processes));
    return lines + io_lines(layout, limits.io, support.device);
}

}  // namespace svc::lxc
