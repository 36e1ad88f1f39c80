#pragma once
// Other owners for the same files: id-mapped mounts (Linux 5.12; below an overlay 5.19). On disk, layers and
// the writable folders of all containers have owners in one common range; each container sees its own mount
// of them, in which they belong to its own range. Any thread; functions throw Error.
#include <cstdint>
#include <filesystem>

#include "libsvc/base/file.h"

namespace svc::lxc {

// Owners `on_disk`, `on_disk` + 1, ... appear as `seen`, `seen` + 1, ...; root of the host stays itself,
// since the overlay's own files belong to it. All others appear as nobody, and nothing can be given to them.
struct IdMapping {
    std::uint32_t on_disk = 0, seen = 0, count = 0;
};

// A user namespace that stands for the mapping; no process is in it.
FileDescriptor make_id_map(const IdMapping& mapping);

// A mount of `folder`, without what is mounted below it, that has no path until it is attached to one. It
// goes with the descriptor.
FileDescriptor open_id_mapped(const std::filesystem::path& folder, const FileDescriptor& id_map);

}  // namespace svc::lxc
