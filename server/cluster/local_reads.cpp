#include "server/cluster/local_reads.h"

#include <algorithm>
#include <array>

#include "libsvc/net/http/router.h"

namespace svc::server {

namespace {

// By the paths of the routes. What is not here needs the leader: operations are in its memory alone, exports
// and logs read its disks or ask nodes. Metrics are those of the manager that is asked.
constexpr std::array<std::string_view, 32> local_reads{
    "/",
    "/1.0",
    "/1.0/addons",
    "/1.0/addons/{name}",
    "/1.0/applications",
    "/1.0/applications/{id}",
    "/1.0/applications/{id}/manifest",
    "/1.0/applications/{id}/{version}/manifest",
    "/1.0/certificates",
    "/1.0/certificates/tokens",
    "/1.0/certificates/{fingerprint}",
    "/1.0/config",
    "/1.0/containers",
    "/1.0/containers/{id}",
    "/1.0/containers/{id}/logs",
    "/1.0/events",
    "/1.0/images",
    "/1.0/images/{id}",
    "/1.0/instances",
    "/1.0/instances/{id}",
    "/1.0/instances/{id}/logs",
    "/1.0/metrics",
    "/1.0/nodes",
    "/1.0/nodes/{name}",
    "/1.0/instances/{id}/snapshots",
    "/1.0/instances/{id}/snapshots/{snapshot}",
    "/1.0/oidc/login",
    "/1.0/openapi.json",
    "/1.0/sessions",
    "/1.0/swagger.json",
    "/1.0/version",
    "/internal/1.0/metrics",
};

}  // namespace

bool is_local_read(const Request& request) {
    if (request.method != Method::get && request.method != Method::head) return false;
    const std::string& path = request.route->path;
    return path == "/ui" || path.starts_with("/ui/") ||
           std::ranges::find(local_reads, path) != local_reads.end();
}

bool is_own_read(const Request& request) {
    return request.wants_websocket() || request.route->path == "/1.0/metrics";
}

}  // namespace svc::server
