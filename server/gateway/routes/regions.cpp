// Regions, and the applications that sessions can have there.
#include "server/gateway/response.h"
#include "server/gateway/routes/routes.h"

namespace svc::gateway {

namespace {

Response names(const std::vector<std::string>& names) {
    Json list = Json::array();
    for (const std::string& name : names) list.push_back(Json::object({{"name", name}}));
    return page(list, names.size());
}

Response applications(const std::vector<Regions::Offer>& offers) {
    Json list = Json::array();
    for (const Regions::Offer& offer : offers)
        list.push_back(Json::object({{"name", offer.name}, {"streams", offer.streams}}));
    return page(list, offers.size());
}

}  // namespace

std::vector<Route> region_routes(const RouteContext& context) {
    return {{Method::get, "/1.0/regions", Access::token, Dispatch::on_pool, "get_regions",
             [&context](Request&) { return names(context.regions.names()); }},
            {Method::get, "/1.0/applications", Access::token, Dispatch::on_pool, "get_applications",
             [&context](Request&) { return applications(context.regions.applications()); }}};
}

}  // namespace svc::gateway
