#pragma once
// Passes events from threads of GStreamer to the peer's PeerEvents until it is closed.
#include <condition_variable>
#include <mutex>

#include "instance-agent/streamer/peer/peer.h"

namespace svc::streamer {

// Thread-safe. PeerEvents must not close the gate from within a call.
class EventGate {
  public:
    explicit EventGate(PeerEvents& events) : events_(events) {}

    template <class F>
    void tell(F&& call) {
        if (!enter()) return;
        call(events_);
        leave();
    }

    // Closes the gate and waits for calls that run.
    void close() {
        std::unique_lock lock(mutex_);
        closed_ = true;
        idle_.wait(lock, [this] { return running_ == 0; });
    }

  private:
    bool enter() {
        std::lock_guard lock(mutex_);
        if (!closed_) ++running_;
        return !closed_;
    }
    void leave() {
        std::lock_guard lock(mutex_);
        if (--running_ == 0) idle_.notify_all();
    }

    PeerEvents& events_;
    std::mutex mutex_;
    std::condition_variable idle_;
    int running_ = 0;
    bool closed_ = false;
};

}  // namespace svc::streamer
