#pragma once
// An InputSink that gives gamepads to devices of their own, and all else to another sink, which has none.
#include "instance-agent/streamer/input/input.h"
#include "instance-agent/streamer/input/virtual_device.h"

namespace svc::streamer {

std::unique_ptr<InputSink> with_pads(std::unique_ptr<InputSink> sink, DeviceMaker make);

}  // namespace svc::streamer
