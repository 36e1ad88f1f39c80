#pragma once
// What state directories have in common: folders with modes, and the lock of the one process that uses them.
#include <filesystem>
#include <string_view>

#include "libsvc/base/file.h"

namespace svc::process {

// Whatever the umask says, and also when it was there before with another mode.
void make_folder(const std::filesystem::path& path, unsigned mode);
// The file "lock" in `root`, locked while it is open. Throws busy when another `program` has it.
FileDescriptor lock_state(const std::filesystem::path& root, std::string_view program);

}  // namespace svc::process
