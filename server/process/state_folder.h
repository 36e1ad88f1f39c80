#pragma once
// State directories: folders with modes, and the lock of the one process that may use them.
#include <filesystem>
#include <string_view>

#include "libsvc/base/file.h"

namespace svc::process {

// Sets the mode whatever the umask is, also of a folder that exists.
void make_folder(const std::filesystem::path& path, unsigned mode);
// Opens and locks the file "lock" in `root`; it is locked while it is open. Throws busy when another process
// has locked it; `program` is for the message.
FileDescriptor lock_state(const std::filesystem::path& root, std::string_view program);

}  // namespace svc::process
