#pragma once
// Usage of a container from its control groups: version 1, 2 or both. Any thread; reads files below the
// mounts of the layout.
#include <string_view>

#include "libsvc/runtime/lxc/host/cgroups.h"
#include "libsvc/runtime/usage.h"

namespace svc::lxc {

// Fills in CPU time, memory and processes. A value that the group lacks stays absent; so do all when the
// group is removed meanwhile.
void read_group_usage(const CgroupLayout& layout, std::string_view group, ContainerUsage& usage);

}  // namespace svc::lxc
