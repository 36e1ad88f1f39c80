#pragma once
// How much memory a process has.
#include <cstdint>
#include <string>
#include <string_view>

namespace svc::bench {

// KiB of a line of /proc/PID/smaps_rollup: "Rss", "Pss". 0 where there is none.
std::uint64_t memory_of(const std::string& pid, std::string_view what);

}  // namespace svc::bench
