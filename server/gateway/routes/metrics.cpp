// The metrics of the gateway for Prometheus, on a listener of their own.
#include "server/gateway/response.h"
#include "server/gateway/routes/routes.h"

namespace svc::gateway {

namespace {

Response show_metrics(const MetricsRegistry& metrics) {
    Response response;
    response.headers.set("Content-Type", "text/plain; version=0.0.4");
    response.body = metrics.render();
    return response;
}

Response ask_for_credentials() {
    Response response = refusal(401, "Authorization failed");
    response.headers.set("WWW-Authenticate", "Basic realm=\"metrics\"");
    return response;
}

}  // namespace

std::vector<Route> metrics_routes(const MetricsRegistry& metrics, BasicCredentials& credentials) {
    return {{Method::get, "/internal/1.0/metrics", Access::everyone, Dispatch::on_pool, "get_metrics",
             [&metrics, &credentials](Request& request) {
                 return credentials.match(request) ? show_metrics(metrics) : ask_for_credentials();
             }}};
}

}  // namespace svc::gateway
