#pragma once
// Makes a package of a directory, for clients.
#include <filesystem>
#include <functional>

namespace svc {

// Writes `target`, a bzip2 tarball of everything in `directory` (names relative to it, sorted; owned by root,
// modes and times kept). `entry` is called before each file and may throw to give up. Throws not_found,
// invalid_argument for a directory that is none or holds what a package may not (sockets, devices, pipes),
// internal when the disk refuses.
void pack_directory(const std::filesystem::path& directory, const std::filesystem::path& target,
                    const std::function<void()>& entry = {});

}  // namespace svc
