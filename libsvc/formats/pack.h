#pragma once
// Makes a package of a directory. Used by svcctl and by programs that upload packages. Any thread; blocks.
#include <filesystem>
#include <functional>

namespace svc {

// Writes `target`, a bzip2 tarball of everything in `directory` (names relative to it, sorted; owned by root,
// modes and times kept). `entry` is called before each file and may throw to cancel. Throws not_found,
// invalid_argument where `directory` is no directory or holds sockets, devices or pipes, internal for an
// error of the disk.
void pack_directory(const std::filesystem::path& directory, const std::filesystem::path& target,
                    const std::function<void()>& entry = {});

}  // namespace svc
