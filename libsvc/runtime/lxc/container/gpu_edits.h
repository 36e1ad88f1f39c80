#pragma once
// What GPUs bring into a container besides their render devices.
#include <cstdint>
#include <filesystem>
#include <string>

#include "libsvc/runtime/cdi.h"

namespace svc::lxc {

// Makes the device nodes below `folder`, owned by the container's root `owner`, as make_device_nodes() does
// before it; returns the lines of the configuration that bring them, the mounts and the environment of the
// first program into the container. Throws unavailable where a device, file or folder is not on this machine.
std::string enter_gpu_edits(const std::filesystem::path& folder, const CdiEdits& edits, std::uint32_t owner);

}  // namespace svc::lxc
