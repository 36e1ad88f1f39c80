#include "libsvc/model/cluster/config_description.h"
#include "server/http/etag.h"
#include "server/http/query.h"
#include "server/http/response.h"
#include "server/routes/handlers.h"
#include "server/routes/routes.h"

namespace svc::server {

namespace {

Response show_config(const Services& services, const Request&) {
    return sync_tagged(Json::object({{"config", services.config.values().to_json()}}),
                       services.config.etag());
}

Response show_schema(const Services&, const Request&) {
    Json keys = Json::array();
    for (const ConfigKey& key : config_schema()) keys.push_back(describe(key));
    return sync(std::move(keys));
}

Response update_config(const Services& services, const Request& request) {
    return async(*services.config.patch(ConfigPatch::from_json(json_body(request)), request.requestor,
                                        if_match(request)));
}

}  // namespace

std::vector<Route> config_routes(const Services& services) {
    using enum Dispatch;
    return {
        {Method::get, "/1.0/config", Access::viewer, on_pool, "config", handler(services, show_config)},
        {Method::get, "/1.0/config/schema", Access::viewer, on_io_thread, "config_schema",
         handler(services, show_schema)},
        {Method::patch, "/1.0/config", Access::admin, on_pool, "config", handler(services, update_config)},
    };
}

}  // namespace svc::server
