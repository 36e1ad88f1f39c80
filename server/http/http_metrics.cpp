#include "server/http/http_metrics.h"

#include <vector>

#include "libsvc/base/strings.h"

namespace svc::server {

namespace {

const std::vector<double> duration_bounds{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10};
const std::vector<double> size_bounds{100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};

std::string_view transport_name(Transport transport) {
    switch (transport) {
        case Transport::unix_socket:
            return "unix";
        case Transport::https:
            return "https";
        case Transport::http:
            break;
    }
    return "http";
}

}  // namespace

HttpMetrics::HttpMetrics(MetricsRegistry& registry, std::string host)
    : registry_(registry), host_(std::move(host)) {}

HttpMetrics::Series HttpMetrics::make(const std::string& handler, const std::string& method) {
    const Labels all{{"handler", handler}, {"host", host_}, {"method", method}};
    return {registry_.gauge("svc_http_in_flight_requests", "requests being served now",
                            {{"handler", handler}, {"host", host_}}),
            registry_.counter("svc_http_requests_total", "requests served", all),
            registry_.histogram("svc_http_request_duration_seconds", "from the header to the last byte sent",
                                duration_bounds, all),
            registry_.histogram("svc_http_request_size_bytes", "bodies of requests", size_bounds, all),
            registry_.histogram("svc_http_response_size_bytes", "bodies of responses", size_bounds, all)};
}

std::size_t HttpMetrics::KeyHash::operator()(const Key& key) const noexcept {
    const auto& [transport, method, label] = key;
    return std::hash<const char*>()(label) * 31 + static_cast<std::size_t>(transport) * 8 +
           static_cast<std::size_t>(method);
}

HttpMetrics::Series& HttpMetrics::series(Transport transport, std::string_view label, Method method) {
    const auto found = announced_.find({transport, method, label.data()});
    return found == announced_.end() ? find_or_make(transport, label, method) : *found->second;
}

HttpMetrics::Series& HttpMetrics::find_or_make(Transport transport, std::string_view label, Method method) {
    const std::string_view word = method == Method::other ? "OTHER" : to_text(method);
    std::string handler(transport_name(transport));
    handler.append("_").append(label).append("_").append(word);
    std::lock_guard lock(mutex_);
    const auto found = series_.find(handler);
    if (found != series_.end()) return found->second;
    return series_.emplace(handler, make(handler, to_lower(word))).first->second;
}

void HttpMetrics::announce(Transport transport, std::string_view label, Method method) {
    announced_[{transport, method, label.data()}] = &find_or_make(transport, label, method);
}

void HttpMetrics::begin(const Request& request, std::string_view label) {
    series(request.peer->transport, label, request.method).in_flight.add(1);
}

void HttpMetrics::end(const Request& request, std::string_view label, const ServedRequest& served) {
    Series& values = series(request.peer->transport, label, request.method);
    values.in_flight.add(-1);
    values.total.add();
    values.duration.observe(std::chrono::duration<double>(served.duration).count());
    values.request_size.observe(static_cast<double>(served.received));
    values.response_size.observe(static_cast<double>(served.sent));
}

}  // namespace svc::server
