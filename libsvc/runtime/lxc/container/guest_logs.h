#pragma once
// Logs that the guest has written into the container's disk.
#include <filesystem>
#include <vector>

#include "libsvc/runtime/runtime.h"

namespace svc::lxc {

// The logs below `upper` (the container's writable layer) that exist and are not empty. Two may have the same
// name: parts of one log, in order. The guest controls these files: a log with a link or a mount on its path
// counts as absent, and the files are returned opened, so that a file that replaces one later is never read.
std::vector<LogFile> guest_logs(const std::filesystem::path& upper);

}  // namespace svc::lxc
