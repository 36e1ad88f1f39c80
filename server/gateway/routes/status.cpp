// GET /1.0/status: the health of the gateway. Open to everybody; clients with a token see more.
#include "server/gateway/response.h"
#include "server/gateway/routes/routes.h"

namespace svc::gateway {

namespace {

// Without a region that answers, the gateway cannot serve any client.
Json status_of(const RegionCounts& regions) {
    return Json::object({{"status", regions.active > 0 ? "healthy" : "unhealthy"}});
}

Response show_status(const RouteContext& context, const Request& request) {
    const RegionCounts regions = context.regions.counts();
    Json status = status_of(regions);
    if (Authenticator::is_local(request) || Authenticator::has_token(request)) {
        context.authenticator.owner(request);
        status.set("agents", regions.active);
        status.set("database_nodes", context.database_nodes);
    }
    return success(200, status);
}

}  // namespace

std::vector<Route> status_routes(const RouteContext& context) {
    return {{Method::get, "/1.0/status", Access::everyone, Dispatch::on_io_thread, "get_service_status",
             [&context](Request& request) { return show_status(context, request); }}};
}

}  // namespace svc::gateway
