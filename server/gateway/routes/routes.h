#pragma once
// The tables of routes; each noun has a file.
#include <string>
#include <vector>

#include "libsvc/base/metrics.h"
#include "libsvc/base/thread_pool.h"
#include "libsvc/net/http/router.h"
#include "libsvc/streaming/account_service.h"
#include "libsvc/streaming/regions/regions.h"
#include "libsvc/streaming/sessions/session_service.h"
#include "server/gateway/authenticate.h"

namespace svc::gateway {

// What the handlers use. It outlives them.
struct RouteContext {
    const Authenticator& authenticator;
    AccountService& accounts;
    const Regions& regions;
    std::string public_url;                         // "": as the request's Host says
    std::vector<std::string> frame_ancestors = {};  // origins whose pages may have the page in a frame
    std::string instance_url = "";                  // the address for clients on the local socket then
    SessionService* sessions = nullptr;             // set before the first request
    std::size_t database_nodes = 1;
};

std::vector<Route> status_routes(const RouteContext& context);
std::vector<Route> session_routes(const RouteContext& context);
std::vector<Route> socket_routes(const RouteContext& context);
std::vector<Route> account_routes(const RouteContext& context);
std::vector<Route> region_routes(const RouteContext& context);  // and applications
std::vector<Route> page_routes(const RouteContext& context);
std::vector<Route> api_routes(const RouteContext& context);  // all of them
std::vector<Route> metrics_routes(const MetricsRegistry& metrics, BasicCredentials& credentials);

}  // namespace svc::gateway
