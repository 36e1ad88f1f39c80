#pragma once
// A subscriber of events on a WebSocket, with a bounded queue: who is too slow for it is disconnected and
// told so.
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

// The upgrade. Subscribed from here on, so nothing that happens after the client's 101 is missed. With
// `since`, what was published after the event of that number comes first, as fast as the client takes it.
Response event_stream(EventBus& events, std::set<EventType> types, EventQueueLimits limits,
                      std::optional<std::uint64_t> since = {});

}  // namespace svc::server
