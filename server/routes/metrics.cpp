// Metrics of instances (GET /1.0/metrics), on the listeners of the API and on one for Prometheus.
#include "server/http/response.h"
#include "server/metrics/hypervisor_metrics.h"
#include "server/routes/routes.h"

namespace svc::server {

std::vector<Route> metrics_routes(const Services& services) {
    return {{Method::get, "/1.0/metrics", Access::viewer, Dispatch::on_pool, "metrics",
             [services](Request&) { return metrics_text(services.hypervisor.render()); }}};
}

}  // namespace svc::server
