#pragma once
// The newest frame of the guest's display, for those that show it.
#include <functional>
#include <map>
#include <memory>

#include "instance-agent/streamer/guest_display/raw_frame.h"
#include "libsvc/base/guarded.h"

namespace svc::streamer {

// Thread-safe.
class FrameFeed {
  public:
    using Sink = std::function<void(std::shared_ptr<const RawFrame>)>;
    // Gets the newest frame at once, if there is one, and each later one on the thread of show(). No call
    // comes after remove(). Must return soon, and not call the feed.
    int add(Sink sink);
    void remove(int watcher);
    void show(const std::shared_ptr<const RawFrame>& frame);
    bool is_watched() const;

  private:
    struct State {
        std::shared_ptr<const RawFrame> newest;
        std::map<int, Sink> sinks;
        int last = 0;
    };
    Guarded<State> state_;
};

}  // namespace svc::streamer
