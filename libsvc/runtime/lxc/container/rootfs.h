#pragma once
// What the runtime does inside a container's mounted root file system: placing files, finding init.
#include <cstdint>
#include <filesystem>
#include <string>

#include "libsvc/runtime/runtime.h"

namespace svc::lxc {

// Writes a file below `root`, replacing what is there; names are resolved by the kernel as if `root` was "/".
// Missing folders are made. Everything made belongs to `owner`. Only while no container runs on it. Returns
// where it lies, links in the way resolved: an absolute path inside `root`.
std::string place_file(const std::filesystem::path& root, const PlacedFile& file, std::uint32_t owner);

// Checks that `init` (its first word) can be executed; returns where its links lead, a path inside `root`.
// Throws invalid_argument "image has no init: ...".
std::string find_init(const std::filesystem::path& root, const std::string& init);

}  // namespace svc::lxc
