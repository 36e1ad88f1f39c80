#pragma once
// For a display that is only looked at.
#include "instance-agent/streamer/input/input.h"

namespace svc::streamer {

std::unique_ptr<InputSink> make_no_input();

}  // namespace svc::streamer
