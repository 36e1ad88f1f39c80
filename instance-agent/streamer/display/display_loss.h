#pragma once
// Xlib ends the program with status 1 when the X server goes away. This calls a function before that.
#include <functional>

namespace svc::streamer {

// While it lives, `say` is called on each thread that notices the loss, possibly on several at once; such a
// thread may hold a lock of Xlib. `say` must return soon. The destructor waits for calls that run. At most
// one object at a time.
class DisplayLoss {
  public:
    explicit DisplayLoss(std::function<void()> say);
    ~DisplayLoss();
    DisplayLoss(const DisplayLoss&) = delete;
    DisplayLoss& operator=(const DisplayLoss&) = delete;
};

}  // namespace svc::streamer
