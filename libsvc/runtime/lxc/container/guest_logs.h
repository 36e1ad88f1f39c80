#pragma once
// Logs that lie in what a container has written.
#include <filesystem>
#include <vector>

#include "libsvc/runtime/runtime.h"

namespace svc::lxc {

// Those that are there and not empty, below `upper`, the container's writable layer. Two sources may have the
// same name: they belong after each other. What is in there is the guest's: a link or a mount anywhere on the
// way makes a log absent. They come opened, so that nothing put in their place later is ever read.
std::vector<LogFile> guest_logs(const std::filesystem::path& upper);

}  // namespace svc::lxc
