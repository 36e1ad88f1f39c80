#pragma once
// Start-up of the runtime: checks of its options, and facts about this machine.
#include "libsvc/base/json.h"
#include "libsvc/runtime/lxc/container/config.h"
#include "libsvc/runtime/lxc/host/id_ranges.h"
#include "libsvc/runtime/lxc/options.h"

namespace svc::lxc {

// With the launcher chosen. Throws invalid_argument for paths that cannot stand in mount options or liblxc's
// configuration.
LxcOptions checked(LxcOptions options);
// The program that starts containers: svc-lxc or svc-launch, as the launcher says.
const std::filesystem::path& starting_helper(const LxcOptions& options);
// Makes the state directory. Chooses the id range at the first start and stores it: layers have owners in
// that range.
ConfigContext make_context(const LxcOptions& options);
IdRegion id_region(const LxcOptions& options, const ConfigContext& context);
// For the node record: kernel, liblxc, control groups, what is missing.
Json machine_details(const LxcOptions& options, const ConfigContext& context);
std::uint64_t total_memory(std::string_view meminfo);

}  // namespace svc::lxc
