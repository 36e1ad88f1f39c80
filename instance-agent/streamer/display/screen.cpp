#include "instance-agent/streamer/display/screen.h"

#include <algorithm>

#include "libsvc/model/instances/screen_limits.h"

namespace svc::streamer {

namespace {

class FixedScreen final : public Screen {
  public:
    explicit FixedScreen(ScreenSize size) : size_(size) {}
    ScreenSize resize(ScreenSize) override { return size_; }
    void set_density(int) override {}

  private:
    ScreenSize size_;
};

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

std::unique_ptr<Screen> make_fixed_screen(ScreenSize size) {
    return std::make_unique<FixedScreen>(size);
}

}  // namespace svc::streamer
