#pragma once
// Between which bitrates a video of some size is to be sent. Plain values: no threads.
#include <cstdint>
#include <string_view>
#include <vector>

#include "libsvc/base/json.h"

namespace svc::agent {

struct BitrateRange {
    std::uint32_t least = 0, most = 0;  // kilobits per second
    bool operator==(const BitrateRange&) const = default;
};

struct BitrateLimit {
    std::uint64_t pixels = 0;  // up to this many a frame
    std::uint32_t fps = 0;
    BitrateRange range;
};

struct DisplaySettings {
    std::uint32_t width = 1280, height = 720, fps = 60;
};

// The built-in table, or what `video.bitrate_limits` of the streamer's file says when all of that is right.
std::vector<BitrateLimit> read_bitrate_limits(std::string_view streamer_file);
// {"display_width":...,"display_height":...,"fps":...} of the user data; anything else means the defaults.
// Odd sizes become even.
DisplaySettings read_display_settings(std::string_view user_data);

// Of the smallest frame that is not below this one (else the largest), the one with the nearest rate.
BitrateRange choose_bitrates(std::vector<BitrateLimit> limits, const DisplaySettings& display);

}  // namespace svc::agent
