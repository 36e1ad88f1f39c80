// The metrics for who may use the API, beside their own listener.
#include "server/response.h"
#include "server/routes/routes.h"

namespace svc::server {

std::vector<Route> metrics_routes(const Services& services) {
    return {{Method::get, "/1.0/metrics", Access::trusted, Dispatch::on_pool, "metrics",
             [services](Request&) { return metrics_text(services.metrics); }}};
}

}  // namespace svc::server
