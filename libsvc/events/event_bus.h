#pragma once
// Events: published once, numbered, delivered to each subscriber in the order of their numbers, and kept for
// a while, so that a subscriber that was away can read what it missed (docs/events.md).
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

// Called with the events of one subscriber, under the bus's order lock, one at a time, in order: it must only
// queue and return. Returning false, or throwing, ends the subscription (the receiver was too slow or is
// gone). It may call the bus: what it publishes is delivered, in order, after the event it was called with.
using EventReceiver = std::function<bool(const Event&)>;

// Rendered events of the past. Where events are missing, a text of type "gap" stands in their place:
// {"type":"gap","timestamp":...,"metadata":{"since","first","last"}}, with the number of the last event
// before the gap, of the first event after it, and of the newest event.
struct EventPage {
    std::vector<std::shared_ptr<const std::string>> texts;
    bool live = false;  // nothing is left to read: from now on the receiver is called
};

// Thread-safe. Numbers grow by one with each event and are never used twice, also not by the next process:
// with a directory in the options they go on where they ended, and jump ahead when it is not certain where
// that was.
class EventBus {
    struct State;
    struct Subscriber;

  public:
    // Reads what an earlier process left in the window's directory. Throws when that cannot be read.
    explicit EventBus(const Clock& clock, EventWindowOptions window = {});
    ~EventBus();
    // Numbers, renders, keeps and delivers. Never throws. When the disk is full or fails, one log line says
    // so, and events are kept in memory alone until it can be written again.
    void publish(EventType type, const Json& metadata);
    // For one of several managers, of which one numbers the events of all (docs/managers.md). From now on
    // what is published here goes nowhere, and take() takes over the events of the manager that leads.
    void follow();
    // An event of the leader, with its number. Nothing happens when it is not newer than what is here, or
    // this manager leads.
    void take(Event event);
    // This manager leads: numbers go on above those of all earlier terms.
    void lead(std::uint64_t term);
    static constexpr unsigned term_shift = 32;  // the first number of a term is (term << 32) + 1
    // Ends its subscription when destroyed.
    class Handle {
      public:
        Handle(std::shared_ptr<State> state, std::weak_ptr<Subscriber> subscriber);
        ~Handle();  // no call after this returns; may be called from within a receiver
        Handle(const Handle&) = delete;
        Handle& operator=(const Handle&) = delete;

      private:
        std::shared_ptr<State> state_;
        std::weak_ptr<Subscriber> subscriber_;  // gone when the receiver has ended it
    };
    [[nodiscard]] std::unique_ptr<Handle> subscribe(const std::set<EventType>& types, EventReceiver receiver);

    // A subscription that begins in the past. next() is for one thread at a time, and not to be called while
    // holding a lock that the receiver takes. A reader that is too slow for the window meets a gap.
    class Replay {
      public:
        Replay(std::shared_ptr<State> state, std::shared_ptr<Subscriber> subscriber, std::uint64_t since);
        ~Replay();  // ends the subscription, as ~Handle does
        Replay(const Replay&) = delete;
        Replay& operator=(const Replay&) = delete;
        // The next texts, of `bytes` in all unless a single one is longer. Events that are published after
        // the last page go to the receiver; no event is missing or comes twice. Empty once live.
        EventPage next(std::size_t bytes);

      private:
        void read(EventPage& page, std::size_t bytes);
        void skip_to(EventPage& page, std::uint64_t next);
        void go_live(EventPage& page);

        std::shared_ptr<State> state_;
        std::shared_ptr<Subscriber> subscriber_;  // until live
        std::uint64_t position_;                  // all up to here has been read or passed over
        std::unique_ptr<Handle> handle_;          // once live
    };
    // After the event numbered `since`; 0: all there is.
    [[nodiscard]] std::unique_ptr<Replay> replay(const std::set<EventType>& types, EventReceiver receiver,
                                                 std::uint64_t since);
    std::uint64_t last_sequence() const;    // 0: nothing has been published ever
    std::uint64_t newest_sequence() const;  // of the events that are kept; 0: there are none
    std::size_t subscribers() const;        // number of live subscriptions

  private:
    std::shared_ptr<State> state_;  // shared with handles, which may outlive the bus
};

}  // namespace svc
