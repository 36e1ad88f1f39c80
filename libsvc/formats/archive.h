#pragma once
// Reading and safely unpacking tar archives (gzip, bzip2, xz or plain); libarchive reads their entries.
// For image packages and exported application versions. Any thread; functions block while they read the
// archive.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/disk_room.h"
#include "libsvc/formats/archive_limits.h"
#include "libsvc/formats/compression.h"

namespace svc {

// Reads one small regular file out of an archive ("metadata.yaml", also found as "./metadata.yaml") without
// unpacking. Stops searching after `search_limit` unpacked bytes and then returns nothing with
// `*searched_all` = false. Throws invalid_argument: not a tar archive, truncated, the file is larger than
// `max_size`, or appears twice before the search ended.
std::optional<std::string> read_archive_member(const std::filesystem::path& archive, std::string_view name,
                                               std::size_t max_size, std::uint64_t search_limit,
                                               bool* searched_all);

struct UnpackOptions {
    std::string subtree;  // only what lies below this top-level directory ("rootfs"); required in the archive
    std::uint32_t id_shift = 0;  // added to each owner and group id; ids above 65535 are refused
    ArchiveLimits limits;
    DiskFloor floor;  // what stays free on the file system of the target, looked at all the time
    std::filesystem::path floor_folder;  // what messages call that file system; empty: the target
    std::stop_token stop;                // checked for each entry and block: throws cancelled
    std::function<void(std::uint64_t bytes, std::uint64_t total)>
        progress;  // bytes of the archive read; may be empty
};
struct UnpackResult {
    std::uint64_t entries = 0;
    std::uint64_t bytes = 0;  // of regular files
};

// Unpacks into `target`, an existing empty directory. Every path is resolved beneath it by the kernel
// (openat2 with RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS), so no entry can leave it. Owners are shifted, modes
// kept (with setuid bits), extended attributes `user.*` and `security.capability` kept (the latter rewritten
// for the shifted root). Refuses, naming the entry: absolute names, "..", device nodes, hard links that leave
// the tree, two entries for `subtree` itself or a link in its place, entries beneath a symbolic link, more
// entries or bytes than the limits; exhausted where the file system would be left without its floor. Symbolic
// links may point anywhere: they are resolved inside the container only. On error `target` may hold
// leftovers: the caller removes it. Everything is synced at the end.
UnpackResult unpack_archive(const std::filesystem::path& archive, const std::filesystem::path& target,
                            const UnpackOptions& options);

}  // namespace svc
