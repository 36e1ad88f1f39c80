#pragma once
// Reading and safely unpacking tar archives (gzip, bzip2, xz, zstd or plain); libarchive does the decoding.
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

namespace svc {

enum class Compression { none, gzip, bzip2, xz, zstd, unknown };
Compression detect_compression(const std::filesystem::path& file);
std::string_view to_text(Compression compression);

// How many bytes an archive may unpack to, by its own size: zeros compress to a millionth, and a small upload
// must not fill the disk.
struct ExpansionLimit {
    std::uint64_t always = std::uint64_t{1} << 30;  // bytes that are allowed for every archive
    std::uint64_t max_times = 1000;                 // times the size of the archive that are allowed
};

struct ArchiveLimits {
    std::uint64_t max_entries = 1'000'000;
    std::uint64_t max_bytes = std::uint64_t{64} << 30;  // of all regular files together, unpacked
    ExpansionLimit expansion = {};
};

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
    std::stop_token stop;  // checked for each entry and block: throws cancelled
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
// entries or bytes than the limits. Symbolic links may point anywhere: they are resolved inside the container
// only. On error `target` may hold leftovers: the caller removes it. Everything is synced at the end.
UnpackResult unpack_archive(const std::filesystem::path& archive, const std::filesystem::path& target,
                            const UnpackOptions& options);

}  // namespace svc
