#pragma once
// What write_file_atomically() leaves when its process is killed.
#include <filesystem>

namespace svc {

// Removes it from a folder, not from folders below. For the owner of the folder, before it writes there. A
// file that cannot be removed, and a folder that is not there, are left.
void remove_unfinished_files(const std::filesystem::path& folder);

}  // namespace svc
