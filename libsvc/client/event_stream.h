#pragma once
// Receives the events of a service (GET /1.0/events).
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "libsvc/base/json.h"
#include "libsvc/net/websocket/websocket_client.h"

namespace svc {

// One thread. Gives all events that happen after the construction, in their order.
class EventStream {
  public:
    // `types`: "operation", "lifecycle", "logging", separated by commas; "": all. `since`: begins with the
    // event after that sequence number. Throws what WebSocketClient throws.
    explicit EventStream(const Target& target, std::string_view types = "",
                         std::optional<std::int64_t> since = std::nullopt);
    // The next one, {type, timestamp, metadata}; nothing on timeout. Throws unavailable at the end of the
    // stream.
    std::optional<Json> next(std::optional<std::chrono::milliseconds> timeout = std::nullopt);

  private:
    WebSocketClient socket_;
};

}  // namespace svc
