#pragma once
// A subscriber of events on a WebSocket, with a bounded queue: who is too slow for it is disconnected and
// told so.
#include <cstddef>
#include <set>

#include "libsvc/events/event_bus.h"
#include "libsvc/net/response.h"

namespace svc::server {

struct EventQueueLimits {
    std::size_t bytes = std::size_t{4} << 20U;
    std::size_t messages = 10'000;
};

// The upgrade. Subscribed from here on, so nothing that happens after the client's 101 is missed.
Response event_stream(EventBus& events, std::set<EventType> types, EventQueueLimits limits);

}  // namespace svc::server
