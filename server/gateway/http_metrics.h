#pragma once
// stream_gateway_http_*: what was asked, how long it took, how much it was. Labels: handler (of the
// specification's route table), host, method, and code in the counter.
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "libsvc/base/metrics.h"
#include "libsvc/net/http/router.h"
#include "libsvc/net/websocket/websocket.h"

namespace svc::gateway {

// Thread-safe. Label values come from the route table, the methods and our statuses: a closed set. A
// WebSocket counts when it ends.
class HttpMetrics {
  public:
    HttpMetrics(MetricsRegistry& registry, std::string host);

    struct Done {
        int status = 0;
        std::uint64_t received = 0;  // bytes of the request's body; of a WebSocket: of its messages
        std::uint64_t sent = 0;      // bytes of the response's body
        std::chrono::nanoseconds duration{};
    };
    // Makes the series of a route, with zeros, before anybody asks for it.
    void announce(std::string_view handler, Method method);
    void begin() { in_flight_.add(1); }
    void end() { in_flight_.add(-1); }
    void count(std::string_view handler, Method method, const Done& done);
    // Counts the connection that `handler` serves when it ends.
    std::shared_ptr<WebSocketHandler> counted(std::shared_ptr<WebSocketHandler> socket,
                                              std::string_view handler);

  private:
    struct Series {
        Histogram& duration;
        Histogram& request_size;
        Histogram& response_size;
    };
    Labels labels(std::string_view handler, Method method) const;
    Series& series(std::string_view handler, Method method);

    MetricsRegistry& registry_;
    std::string host_;
    Gauge& in_flight_;
    std::mutex mutex_;
    std::map<std::pair<std::string, Method>, Series> series_;  // nodes stay where they are
};

}  // namespace svc::gateway
