#pragma once
// Events: published once, numbered, and handed to each subscriber in exactly that order.
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "libsvc/base/clock.h"
#include "libsvc/base/json.h"

namespace svc {

enum class EventType { operation, logging, lifecycle };
std::string_view to_text(EventType type);
EventType parse_event_type(std::string_view text);  // throws invalid_argument

// The rendered notification {"type","timestamp","metadata","sequence"}, shared by all who get it.
struct Event {
    std::uint64_t sequence = 0;
    EventType type = EventType::operation;
    std::shared_ptr<const std::string> text;
};

// Gets the events of one subscriber. Called under the bus's order lock, one at a time, in order: it must only queue
// and return. False, or throwing, ends the subscription (the receiver was too slow or is gone). It may call the bus:
// what it publishes is delivered, in order, after the event it was called with.
using EventReceiver = std::function<bool(const Event&)>;

// Thread-safe.
class EventBus {
  public:
    explicit EventBus(const Clock& clock);
    ~EventBus();
    // Numbers, renders and delivers. Never throws. What nobody wants is numbered only.
    void publish(EventType type, const Json& metadata);
    class Handle {
      public:
        virtual ~Handle() = default;  // no call after this returns; also from within a receiver
    };
    [[nodiscard]] std::unique_ptr<Handle> subscribe(std::set<EventType> types, EventReceiver receiver);
    std::size_t subscribers() const;
    bool wanted(EventType type) const;  // somebody listens: lets the logger skip rendering

  private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace svc
