#include "libsvc/management/management_service.h"
#include "server/http/export.h"
#include "server/http/listing.h"
#include "server/http/query.h"
#include "server/routes/handlers.h"
#include "server/routes/routes.h"

namespace svc::server {

namespace {

const std::string& instance_of(const Request& request) {
    return request.params.at("id");
}

const std::string& snapshot_of(const Request& request) {
    return request.params.at("snapshot");
}

Response list_snapshots(const Services& services, const Request& request) {
    const bool records = wants_records(request);
    return sync_list(
        request, services.management.snapshots().list(instance_of(request)),
        [records](const Snapshot& snapshot) {
            if (records) return to_json(snapshot);
            return Json("/1.0/instances/" + snapshot.instance_id() + "/snapshots/" + snapshot.id.str());
        });
}

Response create_snapshot(const Services& services, const Request& request) {
    return async(*services.management.snapshots().create(
        instance_of(request), SnapshotCreate::from_json(json_body(request)), request.requestor));
}

Response show_snapshot(const Services& services, const Request& request) {
    return sync(to_json(*services.management.snapshots().get(instance_of(request), snapshot_of(request))));
}

Response restore_snapshot(const Services& services, const Request& request) {
    return async(*services.management.snapshots().restore(instance_of(request), snapshot_of(request),
                                                          request.requestor));
}

Response export_snapshot(const Services& services, const Request& request) {
    SnapshotExport prepared =
        services.management.snapshots().export_archive(instance_of(request), snapshot_of(request));
    return send_archive(std::move(prepared.archive), std::nullopt, prepared.file_name);
}

Response delete_snapshot(const Services& services, const Request& request) {
    return async(*services.management.snapshots().remove(instance_of(request), snapshot_of(request),
                                                         request.requestor));
}

}  // namespace

std::vector<Route> snapshot_routes(const Services& services) {
    using enum Dispatch;
    using enum Access;
    const auto call = [&services](RouteFunction function) { return handler(services, function); };
    const std::string all = "/1.0/instances/{id}/snapshots";
    const std::string one = all + "/{snapshot}";
    return {
        {Method::get, all, viewer, on_pool, "snapshots", call(list_snapshots)},
        {Method::post, all, operator_, on_pool, "snapshots", call(create_snapshot)},
        {Method::get, one, viewer, on_pool, "snapshot", call(show_snapshot)},
        {Method::delete_, one, operator_, on_pool, "snapshot", call(delete_snapshot)},
        {Method::get, one + "/export", operator_, on_pool, "snapshot_export", call(export_snapshot)},
        {Method::post, one + "/restore", operator_, on_pool, "snapshot_restore", call(restore_snapshot)},
    };
}

}  // namespace svc::server
