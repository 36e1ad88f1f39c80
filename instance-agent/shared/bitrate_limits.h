#pragma once
// The lowest and highest bitrate for a video of a given size. Plain values: no threads.
#include <cstdint>
#include <string_view>
#include <vector>

#include "instance-agent/shared/display_settings.h"

namespace svc::agent {

struct BitrateRange {
    std::uint32_t least = 0, most = 0;  // kilobits per second
    bool operator==(const BitrateRange&) const = default;
};

struct BitrateLimit {
    std::uint64_t pixels = 0;  // pixels of a frame, at most
    std::uint32_t fps = 0;
    BitrateRange range;
};

// The built-in table, or that of `video.bitrate_limits` in the streamer's file when every entry of it is
// valid.
std::vector<BitrateLimit> read_bitrate_limits(std::string_view streamer_file);

// The limits for the smallest frame that is not smaller than this one (else for the largest), at the nearest
// frame rate.
BitrateRange choose_bitrates(std::vector<BitrateLimit> limits, const DisplaySettings& display);

}  // namespace svc::agent
