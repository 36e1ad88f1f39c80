#pragma once
// Control groups as this machine has them: version 1, 2, or both (hybrid). Detection and choice of keys are
// pure.
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace svc::lxc {

struct CgroupLayout {
    std::map<std::string, std::filesystem::path, std::less<>> v1;  // controller -> where it is mounted
    std::set<std::string, std::less<>> v2_controllers;
    std::filesystem::path v2;                        // empty: not mounted
    std::vector<std::filesystem::path> hierarchies;  // every mount, named ones too

    std::string_view kind() const;  // "v1", "hybrid", "v2", "none"
};

struct Limits {
    double cpus = 0;  // 0: none, in each
    std::uint64_t memory_bytes = 0;
    std::uint32_t processes = 0;
    std::vector<unsigned> cores = {};  // instead of `cpus`
};

// `mountinfo` is /proc/self/mountinfo, `v2_controllers` the text of cgroup.controllers of the version 2
// mount.
CgroupLayout parse_cgroup_layout(std::string_view mountinfo, std::string_view v2_controllers);
CgroupLayout detect_cgroup_layout();

// Lines of liblxc configuration. A limit whose controller the machine lacks is left out: see
// missing_controllers().
std::string limit_lines(const CgroupLayout& layout, const Limits& limits);
std::vector<std::string> missing_controllers(const CgroupLayout& layout);
// The file that counts processes killed for lack of memory; empty without the controller.
std::filesystem::path oom_counter(const CgroupLayout& layout, std::string_view group);
std::uint64_t parse_oom_kills(std::string_view text);

bool can_pin(const CgroupLayout& layout);
std::vector<unsigned> parse_cores(std::string_view text);  // "0-2,5"; empty for anything else

// Kills what is left in `group` and beneath, and removes it from every hierarchy. Absent is fine.
void kill_group(const CgroupLayout& layout, std::string_view group);
void remove_group(const CgroupLayout& layout, std::string_view group);

}  // namespace svc::lxc
