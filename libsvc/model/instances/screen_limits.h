#pragma once
// How large the display of a streaming session may be: 3840x2160 or 2160x3840 (docs/streaming.md, "Clients
// and joins"). The gateway refuses larger sizes; the streamer uses the nearest size that is allowed.
#include <algorithm>

namespace svc {

inline constexpr int max_long_side = 3840, max_short_side = 2160;  // pixels

constexpr bool is_within_screen_limits(int width, int height) {
    return std::max(width, height) <= max_long_side && std::min(width, height) <= max_short_side;
}

}  // namespace svc
