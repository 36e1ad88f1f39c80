#include "server/http_metrics.h"

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

HttpMetrics::Series& HttpMetrics::series(const Request& request, std::string_view label) {
    const std::string_view method = request.method == Method::other ? "OTHER" : to_text(request.method);
    std::string handler(transport_name(request.peer->transport));
    handler.append("_").append(label).append("_").append(method);
    std::lock_guard lock(mutex_);
    const auto found = series_.find(handler);
    if (found != series_.end()) return found->second;
    return series_.emplace(handler, make(handler, to_lower(method))).first->second;
}

void HttpMetrics::begin(const Request& request, std::string_view label) {
    series(request, label).in_flight.add(1);
}

void HttpMetrics::end(const Request& request, std::string_view label, const Done& done) {
    Series& values = series(request, label);
    values.in_flight.add(-1);
    values.total.add();
    values.duration.observe(std::chrono::duration<double>(done.duration).count());
    values.request_size.observe(static_cast<double>(done.received));
    values.response_size.observe(static_cast<double>(done.sent));
}

}  // namespace svc::server
