#include "server/http/etag.h"
#include "server/http/listing.h"
#include "server/http/query.h"
#include "server/http/upload.h"
#include "server/routes/handlers.h"
#include "server/routes/routes.h"

namespace svc::server {

namespace {

std::string url(const Image& image) {
    return "/1.0/images/" + image.id.str();
}

ImageRequest image_request_header(const Request& request) {
    return ImageRequest::parse(request.headers.get("X-SVC-Request"));
}

Response show_default(const Services& services) {
    const auto image = services.images.default_image();
    return sync(image ? Json::array({services.images.describe(*image)}) : Json::array());
}

Response list_images(const Services& services, const Request& request) {
    if (query_flag(request, "default")) return show_default(services);
    const bool records = wants_records(request);
    return sync_list(request, services.images.list(),
                     [records, &images = services.images](const Image& image) {
                         return records ? images.describe(image) : Json(url(image));
                     });
}

Response show_image(const Services& services, const Request& request) {
    const auto image = services.images.get(request.params.at("id"));
    return sync_tagged(services.images.describe(*image), services.images.etag(*image));
}

std::shared_ptr<BodySink> open_image_package(const Services& services, const Request& request) {
    services.images.check_create(image_request_header(request));
    return open_package_upload(services.blobs, request);
}

// {"name", "path", "default"}: an image of the image server.
Response import_image(const Services& services, const Request& request) {
    check_json_type(request);
    const Json body = json_body(request);
    const JsonFields fields(body);
    const std::string name = fields.require_string("name");
    const std::string path = fields.require_string("path");
    return async(*services.image_sync.import(name, path, fields.boolean("default").value_or(false),
                                             request.requestor));
}

Response create_image(const Services& services, const Request& request) {
    if (!request.upload) return import_image(services, request);
    return async(*services.images.create(image_request_header(request), take_package(request),
                                         fingerprint_header(request), request.requestor));
}

// Checked before the package is received, and again, for good, when it has arrived.
std::shared_ptr<BodySink> open_image_update(const Services& services, const Request& request) {
    check_if_match(request, services.images.etag(*services.images.get(request.params.at("id"))));
    services.images.check_update(request.params.at("id"));
    image_request_header(request);
    return open_package_upload(services.blobs, request);
}

// Two requests on one path: a package makes a version, JSON changes fields.
Response update_image(const Services& services, const Request& request) {
    const std::string& id = request.params.at("id");
    if (!request.upload)
        return async(*services.images.patch(id, ImagePatch::from_json(json_body(request)), request.requestor,
                                            if_match(request)));
    return async(*services.images.update(id, image_request_header(request), take_package(request),
                                         fingerprint_header(request), request.requestor, if_match(request)));
}

Response delete_image(const Services& services, const Request& request) {
    return async(*services.images.remove(request.params.at("id"), force_of_body(request), request.requestor));
}

Response delete_image_version(const Services& services, const Request& request) {
    const int version = version_of_path(request, "image version");
    return async(*services.images.remove_version(request.params.at("id"), version, request.requestor));
}

}  // namespace

std::vector<Route> image_routes(const Services& services) {
    using enum Dispatch;
    using enum Access;
    const auto call = [&services](RouteFunction function) { return handler(services, function); };
    return {
        {Method::get, "/1.0/images", viewer, on_pool, "images", call(list_images)},
        with_upload({Method::post, "/1.0/images", admin, on_pool, "images", call(create_image)},
                    opener(services, open_image_package)),
        {Method::get, "/1.0/images/{id}", viewer, on_pool, "image", call(show_image)},
        with_upload({Method::patch, "/1.0/images/{id}", admin, on_pool, "image", call(update_image)},
                    opener(services, open_image_update)),
        {Method::delete_, "/1.0/images/{id}", admin, on_pool, "image", call(delete_image)},
        {Method::delete_, "/1.0/images/{id}/{version}", admin, on_pool, "image_version",
         call(delete_image_version)},
    };
}

}  // namespace svc::server
