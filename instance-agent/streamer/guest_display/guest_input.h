#pragma once
// An InputSink that gives the client's input to the program that draws the display.
#include <memory>

#include "instance-agent/streamer/guest_display/guest_display.h"
#include "instance-agent/streamer/input/input.h"

namespace svc::streamer {

// What is down is known at the other end alone: the library lets go of it when it is told, or when the
// connection ends.
std::unique_ptr<InputSink> make_guest_input(std::shared_ptr<GuestDisplay> display);

}  // namespace svc::streamer
