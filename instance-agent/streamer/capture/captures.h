#pragma once
// Pictures and recordings of the guest's screen, apart from streams (docs/captures.md). media/ makes them
// with GStreamer; tests have captures of their own.
#include <chrono>
#include <functional>
#include <stop_token>
#include <string_view>

#include "instance-agent/streamer/peer/peer.h"

namespace svc::streamer {

constexpr int recorded_fps = 30;  // at most; what does not change is recorded once a second

// Of a guest without X: `width` and `height` are those of a recording, into which its frames are fitted.
struct CaptureSetup {
    MediaPlaces places;
    int width = 0, height = 0;
};

// Gets the bytes as they come. What it throws ends the capture and is thrown on.
using ByteSink = std::function<void(std::string_view)>;

// Each call blocks its thread, and may be made on several at once. They throw unavailable: the guest has
// drawn nothing, or its screen cannot be captured; unsupported: an element is missing.
struct Captures {
    // A PNG of the screen as it is, without the pointer. On a stop request: cancelled.
    std::function<void(const CaptureSetup&, const ByteSink&, const std::stop_token&)> screenshot;
    // An MP4 (H.264) in fragments of half a second, each sent when it is made. After `length`, or on a stop
    // request, the last one is ended and sent.
    std::function<void(const CaptureSetup&, std::chrono::milliseconds length, const ByteSink&,
                       const std::stop_token&)>
        record;
};

}  // namespace svc::streamer
