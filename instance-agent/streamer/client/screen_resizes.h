#pragma once
// The sizes that a client asks for while it watches: a window that is dragged asks for many.
#include <optional>

#include "instance-agent/streamer/client/screen_wish.h"
#include "instance-agent/streamer/threads/event_queue.h"

namespace svc::streamer {

// Used on the queue's thread alone.
class ScreenResizes {
  public:
    static constexpr std::chrono::milliseconds pause{250};  // from one to the next
    using Apply = std::function<void(const ScreenWish&)>;

    ScreenResizes(EventQueue& queue, Apply apply) : queue_(queue), apply_(std::move(apply)) {}
    void ask(const ScreenWish& wish);  // applied now or after the pause; then the newest one
    void forget() { next_.reset(); }   // the client has gone

  private:
    void apply_next();

    EventQueue& queue_;
    Apply apply_;
    std::optional<ScreenWish> next_;
    bool pauses_ = false;
};

}  // namespace svc::streamer
