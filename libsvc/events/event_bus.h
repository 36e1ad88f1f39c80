#pragma once
// Events: published once, numbered, handed to each subscriber in exactly that order, and kept for a while so
// that one who was away can read what it missed.
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/json.h"
#include "libsvc/events/event.h"
#include "libsvc/events/event_window.h"

namespace svc {

// Gets the events of one subscriber. Called under the bus's order lock, one at a time, in order: it must only
// queue and return. False, or throwing, ends the subscription (the receiver was too slow or is gone). It may
// call the bus: what it publishes is delivered, in order, after the event it was called with.
using EventReceiver = std::function<bool(const Event&)>;

// A piece of the past, ready to be sent. Where events are missing, a text of type "gap" stands in their
// place:
// {"type":"gap","timestamp":...,"metadata":{"since","first","last"}}, with the number up to which all is
// known, the number of the first event after the gap, and the newest number there is.
struct EventPage {
    std::vector<std::shared_ptr<const std::string>> texts;
    bool live = false;  // nothing is left to read: from now on the receiver is called
};

// Thread-safe. Numbers grow by one with each event and are never used twice, also not by the next process:
// with a directory in the options they go on where they ended, and jump ahead when it is not certain where
// that was.
class EventBus {
  public:
    // Reads what an earlier process left in the window's directory. Throws when that cannot be read.
    explicit EventBus(const Clock& clock, EventWindowOptions window = {});
    ~EventBus();
    // Numbers, renders, keeps and delivers. Never throws. When the disk takes no more, one log line says so,
    // and events are kept in memory alone until it does.
    void publish(EventType type, const Json& metadata);
    class Handle {
      public:
        virtual ~Handle() = default;  // no call after this returns; also from within a receiver
    };
    [[nodiscard]] std::unique_ptr<Handle> subscribe(const std::set<EventType>& types, EventReceiver receiver);

    // A subscription that begins in the past. next() is for one thread at a time, and not to be called while
    // holding a lock that the receiver takes. A reader that is too slow for the window meets a gap.
    class Replay : public Handle {
      public:
        // The next texts, of `bytes` in all unless a single one is longer. Without hole or double, what was
        // published after the last page goes to the receiver. Empty once live.
        virtual EventPage next(std::size_t bytes) = 0;
    };
    // After the event numbered `since`; 0: all there is.
    [[nodiscard]] std::unique_ptr<Replay> replay(const std::set<EventType>& types, EventReceiver receiver,
                                                 std::uint64_t since);
    std::uint64_t last_sequence() const;  // 0: nothing has been published ever
    std::size_t subscribers() const;      // those called live

  private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace svc
