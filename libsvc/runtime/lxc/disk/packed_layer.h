#pragma once
// A layer on its way between machines: a line of text that tells the ids of its owners, then a tarball of its
// folder as it lies on the disk, with owners, modes, times, holes, hard links, whiteouts, and all extended
// attributes.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>

#include "libsvc/base/disk_room.h"
#include "libsvc/runtime/runtime.h"

namespace svc::lxc {

// `folder`: of the layer; nobody changes it meanwhile. Calls `released` when it ends. Left out: sockets.
std::unique_ptr<ArchiveStream> pack_folder(const std::filesystem::path& folder, std::uint32_t id_base,
                                           std::function<void()> released);

// Fills `folder`, which is empty, and syncs it. Throws invalid_argument for what is no packed layer,
// unsupported where owners have other ids there, exhausted where less than the floor would be left,
// cancelled; what was written stays.
void unpack_folder(ArchiveStream& packed, const std::filesystem::path& folder, std::uint32_t id_base,
                   const DiskFloor& floor, const std::stop_token& stop);

}  // namespace svc::lxc
