#include "instance-agent/streamer/display/screen.h"

#include <algorithm>

namespace svc::streamer {

namespace {

constexpr int most_width = 3840, most_height = 2160;

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

// A screen that stands on its side may have as many pixels as one that lies.
ScreenSize allowed_size(int width, int height) {
    const bool stands = height > width;
    return {allowed(width, stands ? most_height : most_width),
            allowed(height, stands ? most_width : most_height)};
}

std::unique_ptr<Screen> make_fixed_screen(ScreenSize size) {
    return std::make_unique<FixedScreen>(size);
}

}  // namespace svc::streamer
