#pragma once
// The screen of a guest without X: the program that draws it is told what is wished for.
#include <memory>

#include "instance-agent/streamer/display/screen.h"
#include "instance-agent/streamer/guest_display/guest_display.h"

namespace svc::streamer {

// Has any size at once: what the guest draws in another one is scaled.
std::unique_ptr<Screen> make_guest_screen(std::shared_ptr<GuestDisplay> display);

}  // namespace svc::streamer
