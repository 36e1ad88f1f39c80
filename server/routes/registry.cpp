#include "server/http/query.h"
#include "server/http/response.h"
#include "server/routes/handlers.h"
#include "server/routes/routes.h"

namespace svc::server {

namespace {

// Records also without recursion, because the applications of a registry have no URL here.
Response list_applications(const Services& services, const Request& request) {
    wants_records(request);
    JsonArray applications;
    for (const CatalogueApplication& application : services.registry.list())
        applications.push_back(application.to_json());
    return sync(Json(std::move(applications)));
}

Response push_application(const Services& services, const Request& request) {
    return async(*services.registry.push(request.params.at("id"), request.requestor));
}

Response pull_application(const Services& services, const Request& request) {
    return async(*services.registry.pull(request.params.at("id"), request.requestor));
}

Response delete_application(const Services& services, const Request& request) {
    return async(*services.registry.remove(request.params.at("id"), request.requestor));
}

}  // namespace

std::vector<Route> registry_routes(const Services& services) {
    using enum Dispatch;
    using enum Access;
    const auto call = [&services](RouteFunction function) { return handler(services, function); };
    const std::string all = "/1.0/registry/applications";
    const std::string one = all + "/{id}";
    return {
        {Method::get, all, viewer, on_pool, "registry_applications", call(list_applications)},
        {Method::delete_, one, admin, on_pool, "registry_application", call(delete_application)},
        {Method::post, one + "/push", admin, on_pool, "registry_application_push", call(push_application)},
        {Method::post, one + "/pull", admin, on_pool, "registry_application_pull", call(pull_application)},
    };
}

}  // namespace svc::server
