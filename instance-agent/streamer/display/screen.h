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

// What a client may wish for: odd sizes are raised by one for the encoders, and what is beyond the
// limits (libsvc/model/instances/screen_limits.h) is brought down to them.
ScreenSize allowed_size(int width, int height);

// One thread.
class Screen {
  public:
    virtual ~Screen() = default;
    // Comes as near to it as it can, and tells what it is now.
    virtual ScreenSize resize(ScreenSize wish) = 0;
    virtual void set_density(int density) = 0;  // 160: one pixel of a program's drawing is one of the screen
};

// By RandR. A server without a fitting mode gets one; Xvfb cannot grow beyond the size it was started with.
// `density` becomes the resource Xft.dpi. Throws unavailable.
std::unique_ptr<Screen> make_x_screen(const std::string& display);
std::unique_ptr<Screen> make_fixed_screen(ScreenSize size);  // of guests that draw by themselves

}  // namespace svc::streamer
