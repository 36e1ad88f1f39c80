#pragma once
// Files of a container as entries of an archive, with owners and capabilities as the container sees them. Any
// thread; functions throw Error.
#include <cstdint>
#include <string>
#include <string_view>

#include "libsvc/formats/archive_entry.h"

struct stat;

namespace svc::lxc {

// The ids of the host that are a container's own ids from 0.
struct GuestIds {
    std::uint32_t base = 0, count = 0;
};

// Without link target and attributes. `other`: a device or a socket.
ArchiveEntry file_entry(const std::string& path, const struct stat& info, GuestIds ids);

// Adds the extended attributes of an open file whose names are wanted, sorted.
void add_attributes(ArchiveEntry& entry, int file, GuestIds ids, bool (*is_wanted)(std::string_view name));

}  // namespace svc::lxc
