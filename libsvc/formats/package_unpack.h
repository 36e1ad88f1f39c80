#pragma once
// Unpacks application and addon packages. Used by the agent inside instances. Any thread; blocks.
#include <cstdint>
#include <filesystem>
#include <stop_token>

namespace svc {

struct PackageUnpackLimits {
    std::uint64_t max_entries = 100'000;
    std::uint64_t max_bytes = std::uint64_t{64} << 30;  // of all files together
};

// Unpacks a bzip2 tarball or zip archive into `target`, an existing empty directory; everything belongs to
// the caller's user, without setuid bits and extended attributes. Every path is resolved beneath `target` by
// the kernel. Throws invalid_argument, naming the entry: absolute names, "..", devices and fifos, links that
// leave the package, more than the limits, broken bytes. On error the caller removes what is in `target`.
// Constant memory.
void unpack_package(const std::filesystem::path& package, const std::filesystem::path& target,
                    const PackageUnpackLimits& limits = {}, std::stop_token stop = {});

}  // namespace svc
