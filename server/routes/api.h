#pragma once
// The route table of the whole API.
#include <vector>

#include "libsvc/net/http/router.h"
#include "server/routes/services.h"

namespace svc::server {

std::vector<Route> api_routes(const Services& services);

}  // namespace svc::server
