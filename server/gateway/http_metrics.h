#pragma once
// The metrics stream_gateway_http_*: number, duration and sizes of requests. Labels: handler (as the
// specification names its routes), host, method, and code in the counter.
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "libsvc/base/metrics.h"
#include "libsvc/net/server/routed_service.h"
#include "libsvc/net/websocket/websocket.h"

namespace svc::gateway {

// Thread-safe. The values of labels come from the tables of routes, the methods and our statuses: a closed
// set. A WebSocket counts when it ends; `received` are the bytes of its messages then.
class HttpMetrics {
  public:
    HttpMetrics(MetricsRegistry& registry, std::string host);

    // Makes the series of a route, with zeros, before its first request.
    void announce(std::string_view handler, Method method);
    void begin() { in_flight_.add(1); }
    void end() { in_flight_.add(-1); }
    void count(std::string_view handler, Method method, const ServedRequest& served);
    // Counts the WebSocket, which a request to `handler` becomes, when it ends.
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
