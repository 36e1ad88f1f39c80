#pragma once
// The console: a page for browsers that uses the API (docs/console.md).
#include <vector>

#include "libsvc/net/http/router.h"
#include "libsvc/services/configuration/config_service.h"

namespace svc::server {

// The files below /ui/, for everyone; empty in a build without the console. `config` outlives them.
std::vector<Route> console_routes(const ConfigService& config);

}  // namespace svc::server
