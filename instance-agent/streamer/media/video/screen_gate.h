#pragma once
// Stands behind the source that captures an X screen: frames that are worth encoding go through; while there
// are none the source waits here and captures nothing.
#include <atomic>
#include <memory>
#include <string>

#include "instance-agent/streamer/display/screen_watch.h"
#include "instance-agent/streamer/media/video/frame_pace.h"

namespace svc::streamer {

class ScreenGate {
  public:
    ScreenGate(const std::string& display, int fps, std::shared_ptr<FramePace> pace);  // throws unavailable

    // On the source's thread, for a frame it has captured just now. False: it is not to be sent, and by now
    // there is reason to capture a newer one.
    bool let_through();
    void wake() { watch_.wake(); }  // any thread: the pace has been told something
    void stop();                    // any thread: nobody waits here any more

  private:
    ScreenWatch watch_;
    std::shared_ptr<FramePace> pace_;
    std::atomic<bool> stopped_ = false;
};

}  // namespace svc::streamer
