#pragma once
// GET /1.0/events: a WebSocket that subscribes to events, with a bounded queue. A client that is too slow for
// the queue is disconnected with close code 1013.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>

#include "libsvc/events/event_bus.h"
#include "libsvc/net/http/response.h"

namespace svc::server {

struct EventQueueLimits {
    std::size_t bytes = std::size_t{4} << 20U;
    std::size_t messages = 10'000;
};

// The reply that upgrades to the WebSocket. It is subscribed from now on, so the client misses nothing that
// happens after its 101. With `since`, the events after that number come first, as fast as the client reads.
Response event_stream(EventBus& events, std::set<EventType> types, EventQueueLimits limits,
                      std::optional<std::uint64_t> since = {});

}  // namespace svc::server
