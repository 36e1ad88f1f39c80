// Metrics of instances (GET /1.0/metrics), on the listeners of the API and on one for Prometheus, and the
// figures of the last hour.
#include <charconv>

#include "libsvc/base/error.h"
#include "server/http/query.h"
#include "server/http/response.h"
#include "server/metrics/hypervisor_metrics.h"
#include "server/metrics/metrics_history.h"
#include "server/routes/routes.h"

namespace svc::server {

namespace {

std::int64_t since_of(const Request& request) {
    const std::string text = request.query_value("since");
    std::int64_t seconds = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (!text.empty() && (end.ec != std::errc() || end.ptr != text.data() + text.size()))
        throw Error(ErrorCode::invalid_argument,
                    "argument since is invalid: seconds since 1970 are expected");
    return seconds;
}

std::size_t nodes_of(const Request& request) {
    if (!request.query.contains("nodes")) return HistoryQuery().nodes;
    const std::size_t most = count_of_query(request.query_value("nodes"), "nodes");
    if (most > MetricsHistory::most_nodes)
        throw Error(ErrorCode::invalid_argument,
                    "argument nodes is invalid: at most " + std::to_string(MetricsHistory::most_nodes));
    return most;
}

Response show_history(const Services& services, const Request& request) {
    HistoryQuery query{since_of(request), nodes_of(request), request.query_value("node")};
    if (!query.node.empty()) services.nodes.get(query.node);
    return sync(services.history.read(query));
}

}  // namespace

std::vector<Route> metrics_routes(const Services& services) {
    return {{Method::get, "/1.0/metrics", Access::viewer, Dispatch::on_pool, "metrics",
             [services](Request& request) {
                 return metrics_text(services.hypervisor.render(request.query_value("instance")));
             }}};
}

std::vector<Route> history_routes(const Services& services) {
    return {{Method::get, "/1.0/metrics/history", Access::viewer, Dispatch::on_pool, "metrics_history",
             [services](Request& request) { return show_history(services, request); }}};
}

}  // namespace svc::server
