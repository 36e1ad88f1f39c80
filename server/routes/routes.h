#pragma once
// A table of routes for each noun. A handler decodes the request, calls a service and encodes the reply; the
// rules are in the services.
#include <vector>

#include "libsvc/net/http/router.h"
#include "server/routes/services.h"

namespace svc::server {

std::vector<Route> root_routes(const Services& services);
std::vector<Route> addon_routes(const Services& services);
std::vector<Route> application_routes(const Services& services);
std::vector<Route> artifact_routes(const Services& services);
std::vector<Route> capture_routes(const Services& services);
std::vector<Route> certificate_routes(const Services& services);
std::vector<Route> config_routes(const Services& services);
std::vector<Route> event_routes(const Services& services);
std::vector<Route> history_routes(const Services& services);
std::vector<Route> image_routes(const Services& services);
std::vector<Route> instance_routes(const Services& services);
std::vector<Route> metrics_routes(const Services& services);
std::vector<Route> node_routes(const Services& services);
std::vector<Route> oidc_routes(const Services& services);
std::vector<Route> openapi_routes(const Services& services);
std::vector<Route> operation_routes(const Services& services);
std::vector<Route> registry_routes(const Services& services);
std::vector<Route> session_routes(const Services& services);
std::vector<Route> snapshot_routes(const Services& services);
std::vector<Route> task_routes(const Services& services);

}  // namespace svc::server
