#pragma once
// What a container's control group says of its use: version 1, 2 or both. Reads files below the layout's
// mounts.
#include <string_view>

#include "libsvc/runtime/lxc/host/cgroups.h"
#include "libsvc/runtime/usage.h"

namespace svc::lxc {

// Fills in CPU time, memory and processes; what is not there stays absent. Does not throw for a group that
// goes.
void read_group_usage(const CgroupLayout& layout, std::string_view group, ContainerUsage& usage);

}  // namespace svc::lxc
