#pragma once
// Makes handlers of plain functions of the services and the request.
#include "libsvc/net/http/router.h"
#include "server/routes/services.h"

namespace svc::server {

using RouteFunction = Response (*)(const Services&, const Request&);
using UploadFunction = std::shared_ptr<BodySink> (*)(const Services&, const Request&);

inline Handler handler(const Services& services, RouteFunction function) {
    return [services, function](Request& request) { return function(services, request); };
}

inline UploadOpener opener(const Services& services, UploadFunction function) {
    return [services, function](Request& request) { return function(services, request); };
}

// The same route, which also takes uploads.
inline Route with_upload(Route route, UploadOpener open) {
    route.open_upload = std::move(open);
    return route;
}

}  // namespace svc::server
