#pragma once
// Control groups of this machine: version 1, 2, or both (hybrid). Functions of texts and layouts are pure,
// except detect_cgroup_layout(), for_each_group(), is_alone(), kill_group() and remove_group().
#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
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

    // liblxc sets limits of version 2 only where no controller is in version 1.
    bool limits_in_v2(std::string_view controller) const {
        return v1.empty() && v2_controllers.contains(controller);
    }
    std::string_view kind() const;  // "v1", "hybrid", "v2", "none"
};

// `mountinfo` is /proc/self/mountinfo, `v2_controllers` the text of cgroup.controllers of the version 2
// mount.
CgroupLayout parse_cgroup_layout(std::string_view mountinfo, std::string_view v2_controllers);
CgroupLayout detect_cgroup_layout();

// Of those that limits need; limit_lines() leaves such a limit out.
std::vector<std::string> missing_controllers(const CgroupLayout& layout);
// The file that counts processes killed for lack of memory; empty without the controller.
std::filesystem::path oom_counter(const CgroupLayout& layout, std::string_view group);
std::uint64_t parse_oom_kills(std::string_view text);

bool can_pin(const CgroupLayout& layout);
std::vector<unsigned> parse_cores(std::string_view text);  // "0-2,5"; empty for anything else

// `top` and the groups beneath it, depth first, so that a directory has no others in it when it is visited.
// Skips groups that are removed meanwhile; throws for one that cannot be read.
void for_each_group(const std::filesystem::path& top,
                    const std::function<void(const std::filesystem::path&)>& visit);
// Whether `process` and no other is in `group` and beneath it, in every hierarchy. Those that have ended do
// not count, also when nobody has reaped them.
bool is_alone(const CgroupLayout& layout, std::string_view group, pid_t process);
// Kills the processes in `group` and beneath it; removes the group from every hierarchy. Both do nothing when
// it does not exist.
void kill_group(const CgroupLayout& layout, std::string_view group);
void remove_group(const CgroupLayout& layout, std::string_view group);

}  // namespace svc::lxc
