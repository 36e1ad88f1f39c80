#pragma once
// Work inside the mounted root file system of a container that does not run: placing and reading files,
// finding init.
#include <cstdint>
#include <filesystem>
#include <string>

#include "libsvc/runtime/runtime.h"

namespace svc::lxc {

// Whether a file lies at `path` ("/system/build.prop") below `root`; links do not count, on the way neither.
bool has_file(const std::filesystem::path& root, const std::string& path);

// Writes or replaces a file below `root`; the kernel resolves its path as if `root` were "/". Makes missing
// folders. The file and the new folders belong to `owner`. Returns the path with links resolved: absolute,
// inside `root`.
std::string place_file(const std::filesystem::path& root, const PlacedFile& file, std::uint32_t owner);

// Checks that the first word of `init` is an executable file; returns its path inside `root` with links
// resolved. Throws invalid_argument "image has no init: ...".
std::string find_init(const std::filesystem::path& root, const std::string& init);

// The text of a regular file below `root`, whose path the kernel resolves as if `root` were "/". Throws
// invalid_argument where there is none or it is longer than `max_bytes`.
std::string read_inside(const std::filesystem::path& root, const std::string& path, std::size_t max_bytes);

}  // namespace svc::lxc
