#pragma once
// Follows the source that captures an X screen. Passes frames that are worth encoding; while there are none,
// it blocks the source, which then captures nothing.
#include <atomic>
#include <memory>
#include <string>

#include "instance-agent/streamer/display/screen_watch.h"
#include "instance-agent/streamer/media/video/frame_pace.h"

namespace svc::streamer {

class ScreenGate {
  public:
    ScreenGate(const std::string& display, int fps, std::shared_ptr<FramePace> pace);  // throws unavailable

    // Called on the source's thread for each captured frame; may block. False: drop this frame, there is
    // reason to capture a newer one.
    bool let_through();
    void wake() { watch_.wake(); }  // any thread; call after a change of `pace`
    void stop();                    // any thread; no call blocks afterwards

  private:
    ScreenWatch watch_;
    std::shared_ptr<FramePace> pace_;
    std::atomic<bool> stopped_ = false;
};

}  // namespace svc::streamer
