#pragma once
// How much an archive may hold.
#include <cstdint>

namespace svc {

// How many bytes an archive may unpack to, by its own size: zeros compress to a millionth, and a small upload
// must not fill the disk or keep a core busy for hours.
struct ExpansionLimit {
    std::uint64_t always = std::uint64_t{1} << 30;  // bytes that are allowed for every archive
    std::uint64_t max_times = 1000;                 // times the size of the archive that are allowed
};

struct ArchiveLimits {
    std::uint64_t max_entries = 1'000'000;
    std::uint64_t max_bytes = std::uint64_t{64} << 30;  // of all regular files together, unpacked
    ExpansionLimit expansion = {};
};

}  // namespace svc
