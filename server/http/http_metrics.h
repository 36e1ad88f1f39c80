#pragma once
// svc_http_*: what was asked, how long it took, how much it was. Labels: handler
// (<transport>_<object>_<METHOD>), host, method.
#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "libsvc/base/metrics.h"
#include "libsvc/net/http/request.h"

namespace svc::server {

// Thread-safe. A WebSocket counts once, up to its upgrade. Label values come from the route table, the
// transports and the methods: a closed set.
class HttpMetrics {
  public:
    HttpMetrics(MetricsRegistry& registry, std::string host);

    struct Done {
        std::uint64_t received = 0;  // bytes of the request's body
        std::uint64_t sent = 0;      // bytes of the response's body
        std::chrono::nanoseconds duration{};
    };
    // Makes the series of a route, with zeros, before anybody asks for it. Before the first request; `label`
    // must stay where it is: later it is known by its address, without a lock.
    void announce(Transport transport, std::string_view label, Method method);
    void begin(const Request& request, std::string_view label);
    void end(const Request& request, std::string_view label, const Done& done);

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
