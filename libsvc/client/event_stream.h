#pragma once
// The events of a service as they happen.
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "libsvc/base/json.h"
#include "libsvc/net/websocket/websocket_client.h"

namespace svc {

// One thread. Events before the construction are not seen, all after it are, in their order.
class EventStream {
  public:
    // `types`: "operation", "lifecycle", "logging", separated by commas; "": all. `since`: begin with what
    // came after that sequence number. Throws what WebSocketClient throws.
    explicit EventStream(const Target& target, std::string_view types = "",
                         std::optional<std::int64_t> since = std::nullopt);
    // The next one, {type, timestamp, metadata}; nothing on timeout. Throws unavailable at the end of the
    // stream.
    std::optional<Json> next(std::optional<std::chrono::milliseconds> timeout = std::nullopt);

  private:
    WebSocketClient socket_;
};

}  // namespace svc
