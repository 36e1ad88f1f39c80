#include "libsvc/model/cluster/config_description.h"
#include "server/http/etag.h"
#include "server/http/query.h"
#include "server/http/response.h"
#include "server/routes/handlers.h"
#include "server/routes/routes.h"

namespace svc::server {

namespace {

std::string without_credentials(const std::string& url) {
    const std::size_t scheme = url.find("://");
    if (scheme == std::string::npos) return url;
    const std::size_t begin = scheme + 3;
    const std::size_t at = url.substr(0, url.find_first_of("/?#", begin)).rfind('@');
    return at == std::string::npos || at < begin ? url : url.substr(0, begin) + "***" + url.substr(at);
}

// The addresses of proxies may have a name and a password in them: they are for who can set them.
Json shown_values(const Services& services, const Request& request) {
    Json values = services.config.values().to_json();
    const auto caller = services.authenticator.identify(request);
    if (caller && caller->role == Role::admin) return values;
    for (const ConfigKey& key : config_schema()) {
        const std::string name(key.name);
        if (const Json value = values.at(name); value.is_string())
            values.set(name, without_credentials(value.as_string()));
    }
    return values;
}

Response show_config(const Services& services, const Request& request) {
    return sync_tagged(Json::object({{"config", shown_values(services, request)}}), services.config.etag());
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
