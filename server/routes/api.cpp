#include "server/routes/api.h"

#include <iterator>

#include "server/routes/routes.h"
#include "server/routes/unreadable.h"

namespace svc::server {

std::vector<Route> api_routes(const Services& services) {
    std::vector<Route> all;
    for (auto table :
         {root_routes,        addon_routes,    application_routes, artifact_routes, capture_routes,
          certificate_routes, config_routes,   event_routes,       history_routes,  image_routes,
          instance_routes,    metrics_routes,  node_routes,        oidc_routes,     openapi_routes,
          operation_routes,   registry_routes, session_routes,     snapshot_routes, task_routes}) {
        std::vector<Route> routes = table(services);
        std::move(routes.begin(), routes.end(), std::back_inserter(all));
    }
    guard_unreadable(all, services);
    for (Route& route : all) route.max_body = services.limits.max_body;
    return all;
}

}  // namespace svc::server
