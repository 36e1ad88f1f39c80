#pragma once
// The metrics svc_http_*: number, duration and sizes of requests. Labels: handler
// (<transport>_<object>_<METHOD>), host, method.
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "libsvc/base/metrics.h"
#include "libsvc/net/server/routed_service.h"

namespace svc::server {

// Thread-safe. A WebSocket counts once, up to its upgrade. The values of labels come from the tables of
// routes, the transports and the methods: a closed set.
class HttpMetrics {
  public:
    HttpMetrics(MetricsRegistry& registry, std::string host);

    // Makes the series of a route, with zeros. Before the first request. `label` must stay where it is:
    // requests find the series by its address, without a lock.
    void announce(Transport transport, std::string_view label, Method method);
    void begin(const Request& request, std::string_view label);
    void end(const Request& request, std::string_view label, const ServedRequest& served);

  private:
    struct Series {
        Gauge& in_flight;
        Counter& total;
        Histogram& duration;
        Histogram& request_size;
        Histogram& response_size;
    };
    using Key = std::tuple<Transport, Method, const char*>;
    struct KeyHash {
        std::size_t operator()(const Key& key) const noexcept;
    };
    Series& series(Transport transport, std::string_view label, Method method);
    Series& find_or_make(Transport transport, std::string_view label, Method method);
    Series make(const std::string& handler, const std::string& method);

    MetricsRegistry& registry_;
    std::string host_;
    std::unordered_map<Key, Series*, KeyHash> announced_;
    std::mutex mutex_;
    std::map<std::string, Series, std::less<>> series_;  // by handler; nodes stay where they are
};

}  // namespace svc::server
