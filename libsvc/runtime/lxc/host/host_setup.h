#pragma once
// Start-up of the runtime: checks its options and finds out how this machine is.
#include "libsvc/base/json.h"
#include "libsvc/runtime/lxc/container/config.h"
#include "libsvc/runtime/lxc/lxc_runtime.h"

namespace svc::lxc {

// Throws invalid_argument for paths that could not stand in mount options or configuration.
LxcOptions checked(LxcOptions options);
// Makes the state directory; settles the id range, once for all: layers are shifted into it.
ConfigContext make_context(const LxcOptions& options);
// For the node record: kernel, liblxc, control groups, what is missing.
Json machine_details(const LxcOptions& options, const ConfigContext& context);
std::uint64_t total_memory(std::string_view meminfo);

}  // namespace svc::lxc
