#pragma once
// The freezer of control groups: `freezer.state` where version 1 has that controller, else `cgroup.freeze` of
// version 2. The kernel keeps the state, so the service stores none.
#include <chrono>
#include <string_view>

#include "libsvc/runtime/lxc/host/cgroups.h"

namespace svc::lxc {

// Returns when all processes in `group` and beneath it are frozen. Throws unavailable where they are not
// within `limit`, and has thawed them then; unsupported on a machine that has no freezer.
void freeze_group(const CgroupLayout& layout, std::string_view group, std::chrono::milliseconds limit);
// In version 1 also each group beneath it: processes that are frozen there do not end when they are killed.
// In version 2 they do, and what a guest has frozen in its own groups stays. Does nothing for a group that is
// gone.
void thaw_group(const CgroupLayout& layout, std::string_view group);
// Lets a process of `group` end that was killed with SIGKILL: where a frozen group of version 1 holds it, it
// is taken out. `pidfd`: the process.
void let_killed_end(const CgroupLayout& layout, std::string_view group, int pidfd);
// Whether its processes are frozen, or are about to be. False for a group that is gone.
bool is_frozen(const CgroupLayout& layout, std::string_view group);

}  // namespace svc::lxc
