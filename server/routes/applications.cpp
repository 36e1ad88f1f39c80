#include "libsvc/base/error.h"
#include "server/http/etag.h"
#include "server/http/export.h"
#include "server/http/filters.h"
#include "server/http/listing.h"
#include "server/http/query.h"
#include "server/http/upload.h"
#include "server/routes/handlers.h"
#include "server/routes/routes.h"

namespace svc::server {

namespace {

const std::string& id_of(const Request& request) {
    return request.params.at("id");
}

Response list_applications(const Services& services, const Request& request) {
    const bool records = wants_records(request);
    const auto render = [records](const Application& application) {
        return records ? to_json(application) : Json("/1.0/applications/" + application.id.str());
    };
    const auto wanted = application_filter(request);
    return unless_known(request, list_tag(services.applications.records().collection()), [&] {
        return sync_list(request, filtered(services.applications.list(), wanted), render);
    });
}

std::shared_ptr<BodySink> open_application_package(const Services& services, const Request& request) {
    check_request_header(request);
    return open_package_upload(services.blobs, request);
}

Response create_application(const Services& services, const Request& request) {
    return async(*services.applications.changes().create(take_package(request), fingerprint_header(request),
                                                         request.requestor));
}

Response delete_applications(const Services& services, const Request& request) {
    return async(
        *services.bulk.remove("applications", BulkRequest::from_json(json_body(request)), request.requestor));
}

Response show_application(const Services& services, const Request& request) {
    const auto application = services.applications.get(id_of(request));
    return sync_tagged(to_json(*application), services.applications.records().etag(*application));
}

void check_application_unchanged(const Services& services, const Request& request) {
    check_if_match(request, services.applications.records().etag(*services.applications.get(id_of(request))));
}

std::shared_ptr<BodySink> open_application_update(const Services& services, const Request& request) {
    check_application_unchanged(services, request);
    check_request_header(request);
    services.applications.records().check_update(id_of(request));
    return open_package_upload(services.blobs, request);
}

// A package makes a version, JSON changes fields, an empty body takes in pending updates.
Response update_application(const Services& services, const Request& request) {
    check_application_unchanged(services, request);
    if (!is_octet_stream(request))
        return async(*services.applications.changes().patch(
            id_of(request), ApplicationPatch::from_json(optional_json_body(request)), request.requestor,
            if_match(request)));
    return async(*services.applications.changes().update(id_of(request), take_package(request),
                                                         fingerprint_header(request), request.requestor,
                                                         if_match(request)));
}

Response delete_application(const Services& services, const Request& request) {
    return async(
        *services.applications.removal().remove(id_of(request), force_of_body(request), request.requestor));
}

int version_of(const Request& request) {
    return version_of_path(request, "application version");
}

Response export_version(const Services& services, const Request& request) {
    const std::string asked = request.query_value("compression");
    const Compression compression = asked.empty() ? Compression::gzip : written_compression(asked);
    return send_export(
        services.applications.exports().export_version(id_of(request), version_of(request), compression));
}

Response update_version(const Services& services, const Request& request) {
    const auto patch = VersionPatch::from_json(json_body(request));
    if (!patch.published) throw Error(ErrorCode::invalid_argument, "published is required");
    return async(*services.applications.publication().publish(id_of(request), version_of(request),
                                                              *patch.published, request.requestor));
}

Response delete_application_version(const Services& services, const Request& request) {
    return async(*services.applications.removal().remove_version(id_of(request), version_of(request),
                                                                 force_of_body(request), request.requestor));
}

Response newest_manifest(const Services& services, const Request& request) {
    return send_manifest(services.applications.records().manifest(id_of(request), std::nullopt));
}

Response manifest_of_version(const Services& services, const Request& request) {
    return send_manifest(services.applications.records().manifest(id_of(request), version_of(request)));
}

}  // namespace

std::vector<Route> application_routes(const Services& services) {
    using enum Dispatch;
    using enum Access;
    const auto call = [&services](RouteFunction function) { return handler(services, function); };
    const std::string all = "/1.0/applications";
    const std::string one = all + "/{id}";
    const std::string version = one + "/{version}";
    return {
        {Method::get, all, viewer, on_pool, "applications", call(list_applications)},
        with_upload({Method::post, all, admin, on_pool, "applications", call(create_application)},
                    opener(services, open_application_package)),
        {Method::delete_, all, admin, on_pool, "applications", call(delete_applications)},
        {Method::get, one, viewer, on_io_thread, "application", call(show_application)},
        with_upload({Method::patch, one, admin, on_pool, "application", call(update_application)},
                    opener(services, open_application_update)),
        {Method::delete_, one, admin, on_pool, "application", call(delete_application)},
        {Method::get, one + "/manifest", viewer, on_pool, "application_manifest", call(newest_manifest)},
        {Method::get, version, viewer, on_pool, "application_version", call(export_version)},
        {Method::patch, version, admin, on_pool, "application_version", call(update_version)},
        {Method::delete_, version, admin, on_pool, "application_version", call(delete_application_version)},
        {Method::get, version + "/manifest", viewer, on_pool, "application_version_manifest",
         call(manifest_of_version)},
    };
}

}  // namespace svc::server
