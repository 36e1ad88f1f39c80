#pragma once
// Xlib ends the program, with status 1, when an X server it is connected to goes.
#include <functional>

namespace svc::streamer {

// Calls `say` before that, while it exists: on each thread that notices, which may hold a display, and on
// several at once. `say` must return soon. The destructor waits for those that are within. One at a time.
class DisplayLoss {
  public:
    explicit DisplayLoss(std::function<void()> say);
    ~DisplayLoss();
    DisplayLoss(const DisplayLoss&) = delete;
    DisplayLoss& operator=(const DisplayLoss&) = delete;
};

}  // namespace svc::streamer
