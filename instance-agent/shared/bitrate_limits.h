#pragma once
// The lowest and highest bitrate for a video of a given size. Plain values: no threads.
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
    std::uint64_t pixels = 0;  // pixels of a frame, at most
    std::uint32_t fps = 0;
    BitrateRange range;
};

struct DisplaySettings {
    std::uint32_t width = 1280, height = 720, fps = 60;
};

// The built-in table, or that of `video.bitrate_limits` in the streamer's file when every entry of it is
// valid.
std::vector<BitrateLimit> read_bitrate_limits(std::string_view streamer_file);
// {"display_width":...,"display_height":...,"fps":...} of the user data. Any other text means the defaults.
// Odd sizes become even.
DisplaySettings read_display_settings(std::string_view user_data);

// The limits for the smallest frame that is not smaller than this one (else for the largest), at the nearest
// frame rate.
BitrateRange choose_bitrates(std::vector<BitrateLimit> limits, const DisplaySettings& display);

}  // namespace svc::agent
