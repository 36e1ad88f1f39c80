#pragma once
// Xlib ends the program, with status 1, when an X server it is connected to goes.
#include <functional>

namespace svc::streamer {

// Called before that, on the thread that noticed, which may hold a display; it must return soon. Nothing is
// called any more once another one, or none, is set.
void on_display_lost(std::function<void()> say);

}  // namespace svc::streamer
