#pragma once
// Captures by GStreamer.
#include "instance-agent/streamer/capture/captures.h"

namespace svc::streamer {

// start_media() was called before.
Captures media_captures();

}  // namespace svc::streamer
