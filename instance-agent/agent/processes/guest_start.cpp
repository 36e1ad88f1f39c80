#include "instance-agent/agent/processes/guest_start.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "instance-agent/agent/processes/boot_time.h"
#include "libsvc/base/file.h"
#include "libsvc/base/strings.h"

namespace svc::agent {
namespace {

// Field 22 of /proc/<pid>/stat: the start time. Fields are counted behind the process name, which may contain
// spaces and brackets.
std::uint64_t start_ticks(const std::string& stat) {
    constexpr std::size_t field = 22 - 3;
    const std::size_t name_end = stat.rfind(')');
    const auto fields = name_end == std::string::npos ? std::vector<std::string>()
                                                      : split(trim(stat.substr(name_end + 1)), ' ');
    std::uint64_t ticks = 0;
    if (fields.size() > field)
        std::from_chars(fields[field].data(), fields[field].data() + fields[field].size(), ticks);
    return ticks;
}

}  // namespace

GuestStart guest_start(const Paths& paths) {
    const std::uint64_t ticks = start_ticks(read_file(paths.proc / "1/stat"));
    const std::string boot(trim(read_file(paths.proc / "sys/kernel/random/boot_id")));
    const auto per_second = static_cast<std::uint64_t>(std::max(::sysconf(_SC_CLK_TCK), 1L));
    const Duration started = std::chrono::milliseconds(ticks * 1000 / per_second);
    return {boot + "/" + std::to_string(ticks), std::max(Duration(boot_time()) - started, Duration(0))};
}

std::string guest_start_key(const Paths& paths) try {
    return guest_start(paths).key;
} catch (const std::exception&) {
    return {};
}

}  // namespace svc::agent
