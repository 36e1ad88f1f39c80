#pragma once
// The screen that is streamed: its size and density.
#include <memory>
#include <string>

#include "instance-agent/streamer/display/x_connection.h"

namespace svc::streamer {

struct ScreenSize {
    int width = 1280, height = 720;
    bool operator==(const ScreenSize&) const = default;
};

// The nearest size that is allowed: odd sizes are raised by one, for the encoders; larger ones are cut to the
// limits of libsvc/model/instances/screen_limits.h.
ScreenSize allowed_size(int width, int height);

// One thread.
class Screen {
  public:
    virtual ~Screen() = default;
    // Sets the size as near to `wish` as possible and returns the size that was set.
    virtual ScreenSize resize(ScreenSize wish) = 0;
    virtual void set_density(int density) = 0;  // dots per inch; 160 means no scaling
};

// A screen of an X server with RandR. Adds a mode when none fits; Xvfb cannot exceed the size it was started
// with. The density is set as the resource Xft.dpi. Throws unavailable.
std::unique_ptr<Screen> make_x_screen(const std::string& display);

}  // namespace svc::streamer
