#include "instance-agent/streamer/display/screen.h"

#include <algorithm>

#include "libsvc/model/instances/screen_limits.h"

namespace svc::streamer {

namespace {

int allowed(int pixels, int most) {
    return std::clamp(pixels + pixels % 2, 2, most);
}

}  // namespace

// A portrait screen may have as many pixels as a landscape one.
ScreenSize allowed_size(int width, int height) {
    const bool stands = height > width;
    return {allowed(width, stands ? max_short_side : max_long_side),
            allowed(height, stands ? max_long_side : max_short_side)};
}

}  // namespace svc::streamer
