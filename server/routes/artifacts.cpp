// Packages for the instances that need them, also on the socket of the instances.
#include <algorithm>

#include "libsvc/base/error.h"
#include "server/http/export.h"
#include "server/http/file_source.h"
#include "server/http/listing.h"
#include "server/http/query.h"
#include "server/routes/handlers.h"
#include "server/routes/routes.h"

namespace svc::server {

namespace {

std::vector<PackageRef> readable(const Services& services, const Request& request) {
    return services.instances.artifacts(
        token_instance(request, services.tokens, known_to(services.instances)));
}

Json describe(const PackageRef& package) {
    return Json::object({{"id", package.fingerprint},
                         {"type", package.is_application ? "application" : "addon"},
                         {"name", package.name},
                         {"version", package.version},
                         {"fingerprint", package.fingerprint},
                         {"size", package.size}});
}

Response list_artifacts(const Services& services, const Request& request) {
    JsonArray artifacts;
    for (const PackageRef& package : readable(services, request)) artifacts.push_back(describe(package));
    return sync(Json(std::move(artifacts)));
}

// A package that the token does not open is answered 404, whether it exists or not.
Response send_artifact(const Services& services, const Request& request) {
    const auto packages = readable(services, request);
    const auto package = std::find_if(packages.begin(), packages.end(), [&](const PackageRef& candidate) {
        return candidate.fingerprint == request.params.at("id");
    });
    if (package == packages.end()) throw Error(ErrorCode::not_found, "artifact not found");
    Response response =
        stream_file(services.blobs.path(package->fingerprint), "artifact", "application/octet-stream");
    const std::string name = package->name + "-" + std::to_string(package->version) + ".tar.bz2";
    response.headers.set("Content-Disposition", attachment(name));
    response.headers.set("X-SVC-Fingerprint", package->fingerprint);
    return response;
}

}  // namespace

std::vector<Route> artifact_routes(const Services& services) {
    using enum Dispatch;
    return {
        {Method::get, "/1.0/artifacts", Access::token, on_pool, "internal_artifacts",
         handler(services, list_artifacts)},
        {Method::get, "/1.0/artifacts/{id}", Access::token, on_pool, "internal_artifacts",
         handler(services, send_artifact)},
    };
}

}  // namespace svc::server
