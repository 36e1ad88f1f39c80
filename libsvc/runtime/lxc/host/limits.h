#pragma once
// What a container may take of this machine, as lines of liblxc's configuration. Pure, but for
// detect_limit_support().
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/runtime/lxc/host/cgroups.h"

namespace svc::lxc {

// Per second, on the device of the state directory; 0: no limit.
struct IoLimits {
    std::uint64_t read_bytes = 0, write_bytes = 0;
    std::uint64_t read_operations = 0, write_operations = 0;
    bool any() const { return (read_bytes | write_bytes | read_operations | write_operations) != 0; }
};

struct Limits {
    double cpus = 0;  // in all fields, 0: no limit
    std::uint64_t memory_bytes = 0;
    std::uint32_t processes = 0;
    std::vector<unsigned> cores = {};  // instead of `cpus`
    IoLimits io = {};
    double swap_rate = 0;  // of the memory, that may be swapped out in addition
};

// Which limits this machine can set beside those of its controllers.
struct LimitSupport {
    bool swap = false;           // the kernel counts swapped memory
    std::string device;          // "254:0", the disk that the state directory is on
    std::string io_unsupported;  // why reads and writes cannot be limited; empty: they can
};
LimitSupport detect_limit_support(const CgroupLayout& layout, const std::filesystem::path& state_dir);

// Leaves out limits that the machine cannot set; see missing_controllers().
std::string limit_lines(const CgroupLayout& layout, const Limits& limits, const LimitSupport& support = {});

}  // namespace svc::lxc
