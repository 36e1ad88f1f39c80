#pragma once
// How large the display of a streaming session may be (facts 3.3): 3840x2160, lying or standing. The gateway
// refuses what is larger; the streamer takes what comes nearest to it.
#include <algorithm>

namespace svc {

inline constexpr int max_long_side = 3840, max_short_side = 2160;  // pixels

constexpr bool is_within_screen_limits(int width, int height) {
    return std::max(width, height) <= max_long_side && std::min(width, height) <= max_short_side;
}

}  // namespace svc
