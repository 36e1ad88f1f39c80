#pragma once
// The console: a page for browsers that uses the API (docs/console.md).
#include <vector>

#include "libsvc/net/http/router.h"

namespace svc::server {

// The files below /ui/, for everyone; empty in a build without the console.
std::vector<Route> console_routes();

}  // namespace svc::server
