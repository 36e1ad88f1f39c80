#include "server/http/etag.h"
#include "server/http/listing.h"
#include "server/http/query.h"
#include "server/http/upload.h"
#include "server/routes/handlers.h"
#include "server/routes/routes.h"

namespace svc::server {

namespace {

AddonRequest addon_request_header(const Request& request) {
    return AddonRequest::parse(request.headers.get("X-SVC-Request"));
}

Response list_addons(const Services& services, const Request& request) {
    const bool records = wants_records(request);
    return sync_list(request, services.addons.list(),
                     [records, &addons = services.addons](const Addon& addon) {
                         return records ? addons.describe(addon) : Json("/1.0/addons/" + addon.name);
                     });
}

std::shared_ptr<BodySink> open_create(const Services& services, const Request& request) {
    services.addons.check_create(addon_request_header(request));
    return open_package_upload(services.blobs, request);
}

Response create_addon(const Services& services, const Request& request) {
    return async(*services.addons.create(addon_request_header(request), take_package(request),
                                         fingerprint_header(request), request.requestor));
}

Response show_addon(const Services& services, const Request& request) {
    const auto addon = services.addons.get(request.params.at("name"));
    return sync_tagged(services.addons.describe(*addon), services.addons.etag(*addon));
}

void check_addon_unchanged(const Services& services, const Request& request) {
    const auto addon = services.addons.get(request.params.at("name"));
    check_if_match(request, services.addons.etag(*addon));
}

std::shared_ptr<BodySink> open_update(const Services& services, const Request& request) {
    check_addon_unchanged(services, request);
    check_request_header(request);
    services.addons.check_update(request.params.at("name"));
    return open_package_upload(services.blobs, request);
}

Response update_addon(const Services& services, const Request& request) {
    check_addon_unchanged(services, request);
    return async(*services.addons.update(request.params.at("name"), take_package(request),
                                         fingerprint_header(request), request.requestor, if_match(request)));
}

Response delete_addon(const Services& services, const Request& request) {
    return async(*services.addons.remove(request.params.at("name"), request.requestor));
}

Response delete_version(const Services& services, const Request& request) {
    const int version = version_of_path(request, "addon version");
    return async(*services.addons.remove_version(request.params.at("name"), version, request.requestor));
}

}  // namespace

std::vector<Route> addon_routes(const Services& services) {
    using enum Dispatch;
    using enum Access;
    const auto call = [&services](RouteFunction function) { return handler(services, function); };
    return {
        {Method::get, "/1.0/addons", viewer, on_pool, "addons", call(list_addons)},
        with_upload({Method::post, "/1.0/addons", admin, on_pool, "addons", call(create_addon)},
                    opener(services, open_create)),
        {Method::get, "/1.0/addons/{name}", viewer, on_pool, "addon", call(show_addon)},
        with_upload({Method::patch, "/1.0/addons/{name}", admin, on_pool, "addon", call(update_addon)},
                    opener(services, open_update)),
        {Method::delete_, "/1.0/addons/{name}", admin, on_pool, "addon", call(delete_addon)},
        {Method::delete_, "/1.0/addons/{name}/{version}", admin, on_pool, "addon_version",
         call(delete_version)},
    };
}

}  // namespace svc::server
