#pragma once
// Copies of what containers have written, with owners, modes, times, links, holes, devices and extended
// attributes.
#include <filesystem>
#include <stop_token>

#include "libsvc/base/disk_room.h"

namespace svc::lxc {

// As `cp --archive` does it, sharing blocks where the file system can. `from` may end in "/." to copy what is
// in a folder into one that exists. Synced when this returns. Throws exhausted where disk or quota are full
// or less than the floor is left, cancelled after a stop request, internal otherwise; what was copied by then
// stays.
void copy_tree(const std::filesystem::path& from, const std::filesystem::path& to, const DiskFloor& floor,
               const std::stop_token& stop);

// Two folders change places in one step; synced.
void exchange(const std::filesystem::path& one, const std::filesystem::path& other);

}  // namespace svc::lxc
