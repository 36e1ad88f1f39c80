#include "libsvc/runtime/lxc/usage/cgroup_usage.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>

#include "libsvc/base/file.h"
#include "libsvc/base/strings.h"

namespace svc::lxc {

namespace {

namespace fs = std::filesystem;
using Count = std::optional<std::uint64_t>;

// Version 1 shows "no limit" as the largest number of whole pages.
constexpr std::uint64_t v1_no_limit = std::uint64_t{1} << 62U;
constexpr double nanoseconds = 1e9, microseconds = 1e6;

// The files are small and read at each scrape, so this function neither asks for the size nor throws.
std::string read_small(const fs::path& path) {
    const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) return "";
    std::array<char, 4096> block{};
    const ssize_t size = ::read(fd.get(), block.data(), block.size());
    return size > 0 ? std::string(block.data(), static_cast<std::size_t>(size)) : "";
}

// Nothing for any other text, such as "max".
Count parse_count(std::string_view text) {
    text = trim(text);
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [after, problem] = std::from_chars(text.data(), end, value);
    if (problem != std::errc() || after != end || text.empty()) return std::nullopt;
    return value;
}

Count read_count(const fs::path& path) {
    return parse_count(read_small(path));
}

// The value of `key` in lines of "key value".
Count keyed(std::string_view text, std::string_view key) {
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        if (line.size() > key.size() && line.starts_with(key) && line[key.size()] == ' ')
            return parse_count(line.substr(key.size() + 1));
    }
    return std::nullopt;
}

std::optional<double> seconds(Count count, double unit) {
    if (!count) return std::nullopt;
    return static_cast<double>(*count) / unit;
}

// The folder of the group for a controller of version 1; empty: not mounted.
fs::path v1_group(const CgroupLayout& layout, std::string_view controller, std::string_view group) {
    const auto found = layout.v1.find(controller);
    return found == layout.v1.end() ? fs::path() : found->second / group;
}

void read_cpu(const CgroupLayout& layout, std::string_view group, ContainerUsage& usage) {
    if (const fs::path v1 = v1_group(layout, "cpuacct", group); !v1.empty()) {
        usage.cpu_user_seconds = seconds(read_count(v1 / "cpuacct.usage_user"), nanoseconds);
        usage.cpu_system_seconds = seconds(read_count(v1 / "cpuacct.usage_sys"), nanoseconds);
        return;
    }
    if (layout.v2.empty()) return;
    const std::string text =
        read_small(layout.v2 / group / "cpu.stat");  // exists without the controller, too
    usage.cpu_user_seconds = seconds(keyed(text, "user_usec"), microseconds);
    usage.cpu_system_seconds = seconds(keyed(text, "system_usec"), microseconds);
}

void read_memory(const CgroupLayout& layout, std::string_view group, ContainerUsage& usage) {
    if (const fs::path v1 = v1_group(layout, "memory", group); !v1.empty()) {
        usage.memory_bytes = read_count(v1 / "memory.usage_in_bytes");
        usage.memory_limit_bytes = read_count(v1 / "memory.limit_in_bytes");
        if (usage.memory_limit_bytes >= v1_no_limit) usage.memory_limit_bytes.reset();
        usage.memory_peak_bytes = read_count(v1 / "memory.max_usage_in_bytes");
        usage.oom_kills = keyed(read_small(v1 / "memory.oom_control"), "oom_kill");
    } else if (layout.v2_controllers.contains("memory")) {
        const fs::path v2 = layout.v2 / group;
        usage.memory_bytes = read_count(v2 / "memory.current");
        usage.memory_limit_bytes = read_count(v2 / "memory.max");
        usage.memory_peak_bytes = read_count(v2 / "memory.peak");
        usage.oom_kills = keyed(read_small(v2 / "memory.events"), "oom_kill");
    }
}

void read_processes(const CgroupLayout& layout, std::string_view group, ContainerUsage& usage) {
    fs::path place = v1_group(layout, "pids", group);
    if (place.empty() && layout.v2_controllers.contains("pids")) place = layout.v2 / group;
    if (place.empty()) return;
    usage.processes = read_count(place / "pids.current");
    usage.process_limit = read_count(place / "pids.max");
}

}  // namespace

void read_group_usage(const CgroupLayout& layout, std::string_view group, ContainerUsage& usage) {
    read_cpu(layout, group, usage);
    read_memory(layout, group, usage);
    read_processes(layout, group, usage);
}

}  // namespace svc::lxc
