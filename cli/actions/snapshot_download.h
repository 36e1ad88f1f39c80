#pragma once
// The disk that a snapshot has, as a file on this machine.
#include <filesystem>
#include <string>

#include "cli/connection/context.h"

namespace svc::cli {

// Writes it as an image package to the new file `path`, which this user alone may read. While an object of
// Interrupts lives, Ctrl-C ends it with `cancelled`. Throws what the service answers; what was written stays.
void download_snapshot(Context& context, const std::string& instance, const std::string& snapshot,
                       const std::filesystem::path& path);

}  // namespace svc::cli
