#include "libsvc/model/values/api.h"
#include "server/http/response.h"
#include "server/routes/routes.h"

namespace svc::server {

namespace {

Response show_versions() {
    return sync(Json::array({"/" + std::string(api_version)}));
}

JsonArray login_methods(const Services& services) {
    JsonArray methods{"2waySSL"};
    if (services.management.oidc().is_configured()) methods.emplace_back("oidc");
    return methods;
}

// `auth_role` and `auth_name` are empty for a client that is not trusted.
Response show_server(const Services& services, const Request& request) {
    const auto& extensions = api_extensions();
    const auto identity = services.authenticator.identify(request);
    const Trust trust = identity ? Trust::trusted : services.authenticator.trust(*request.peer);
    return sync(Json::object({{"api_extensions", JsonArray(extensions.begin(), extensions.end())},
                              {"api_status", "stable"},
                              {"api_version", api_version},
                              {"auth", to_text(trust)},
                              {"auth_methods", login_methods(services)},
                              {"auth_name", identity ? identity->name : ""},
                              {"auth_role", identity ? to_text(identity->role) : ""}}));
}

Response show_release() {
    return sync(Json::object({{"version", service_version}}));
}

}  // namespace

std::vector<Route> root_routes(const Services& services) {
    using enum Dispatch;
    return {
        {Method::get, "/", Access::everyone, on_io_thread, "root", [](Request&) { return show_versions(); }},
        {Method::get, "/1.0", Access::everyone, on_io_thread, "service",
         [services](Request& request) { return show_server(services, request); }},
        {Method::get, "/1.0/version", Access::everyone, on_io_thread, "version",
         [](Request&) { return show_release(); }},
    };
}

}  // namespace svc::server
