#pragma once
// An InputSink that ignores all input, for a display that is only watched.
#include "instance-agent/streamer/input/input.h"

namespace svc::streamer {

std::unique_ptr<InputSink> make_no_input();

}  // namespace svc::streamer
