#include "libsvc/client/snapshots.h"

#include <string>
#include <utility>

#include "libsvc/base/strings.h"

namespace svc {

namespace {

std::string snapshots_path(std::string_view instance) {
    return "/1.0/instances/" + percent_encode(instance) + "/snapshots";
}

std::string snapshot_path(std::string_view instance, std::string_view snapshot) {
    return snapshots_path(instance) + "/" + percent_encode(snapshot);
}

}  // namespace

JsonArray snapshots(ApiClient& client, std::string_view instance) {
    return client.call(Method::get, snapshots_path(instance) + "?recursion=1").as_array();
}

Json snapshot(ApiClient& client, std::string_view instance, std::string_view snapshot) {
    return client.call(Method::get, snapshot_path(instance, snapshot));
}

Json create_snapshot(ApiClient& client, std::string_view instance, std::string_view name) {
    const Json body = Json::object({{"name", name}});
    return client.call(Method::post, snapshots_path(instance), &body);
}

Json restore_snapshot(ApiClient& client, std::string_view instance, std::string_view snapshot) {
    const Json body = Json::object();
    return client.call(Method::post, snapshot_path(instance, snapshot) + "/restore", &body);
}

Json delete_snapshot(ApiClient& client, std::string_view instance, std::string_view snapshot) {
    return client.call(Method::delete_, snapshot_path(instance, snapshot));
}

void export_snapshot(ApiClient& client, std::string_view instance, std::string_view snapshot,
                     std::function<void(std::string_view)> sink) {
    client.download(snapshot_path(instance, snapshot) + "/export", "", std::move(sink));
}

}  // namespace svc
