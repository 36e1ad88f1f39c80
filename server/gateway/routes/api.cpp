#include <iterator>

#include "server/gateway/routes/routes.h"

namespace svc::gateway {

std::vector<Route> api_routes(const RouteContext& context) {
    std::vector<Route> all;
    for (auto routes : {status_routes(context), session_routes(context), socket_routes(context),
                        account_routes(context), region_routes(context), page_routes(context)})
        std::move(routes.begin(), routes.end(), std::back_inserter(all));
    return all;
}

}  // namespace svc::gateway
