#include "server/routes/unreadable.h"

#include <algorithm>
#include <array>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/operations/records.h"
#include "libsvc/services/common/browser_session_records.h"
#include "libsvc/services/common/records.h"
#include "libsvc/services/common/snapshot_records.h"
#include "server/http/query.h"
#include "server/http/response.h"

namespace svc::server {

namespace {

struct Place {
    std::string_view path;
    std::string_view capture;  // of the path: the object's id or name
    std::string_view prefix;   // of its key in the store
    std::string_view noun;
};

constexpr std::array places{
    Place{"/1.0/addons/{name}", "name", "addons/", RecordTraits<Addon>::noun},
    Place{"/1.0/applications/{id}", "id", "applications/", RecordTraits<Application>::noun},
    Place{"/1.0/certificates/{fingerprint}", "fingerprint", "certificates/", RecordTraits<Certificate>::noun},
    Place{"/1.0/certificates/tokens/{id}", "id", "join_tokens/", RecordTraits<JoinToken>::noun},
    Place{"/1.0/containers/{id}", "id", "instances/", RecordTraits<Instance>::noun},
    Place{"/1.0/images/{id}", "id", "images/", RecordTraits<Image>::noun},
    Place{"/1.0/instances/{id}", "id", "instances/", RecordTraits<Instance>::noun},
    Place{"/1.0/instances/{id}/snapshots/{snapshot}", "snapshot", "snapshots/", RecordTraits<Snapshot>::noun},
    Place{"/1.0/nodes/{name}", "name", "nodes/", RecordTraits<Node>::noun},
    Place{"/1.0/sessions/{id}", "id", "sessions/", RecordTraits<BrowserSession>::noun},
    Place{"/1.0/operations/{id}", "id", "operations/", RecordTraits<Operation>::noun},
};

Handler guarded(const Services& services, const Place& place, const Route& route) {
    return [&unreadable = services.management.unreadable(), place, method = route.method,
            &authenticator = services.authenticator, next = route.handler](Request& request) {
        const std::string& id = request.params.at(std::string(place.capture));
        const auto record = unreadable.find(place.prefix, id);
        if (!record) return next(request);
        // A route that looks at its object to tell who may change it cannot do so here.
        if (place.prefix == RecordTraits<BrowserSession>::prefix) authenticator.require(Role::admin, request);
        if (method == Method::delete_)
            if (const auto started = unreadable.remove(place.prefix, id, request.requestor))
                return async(**started);
        throw Error(ErrorCode::internal, std::string(place.noun) + " cannot be read: " + record->reason);
    };
}

// Others are not about the record: reports of instances.
bool is_by_role(Access access) {
    return access == Access::viewer || access == Access::operator_ || access == Access::admin;
}

}  // namespace

void guard_unreadable(std::vector<Route>& routes, const Services& services) {
    for (Route& route : routes) {
        const auto place = std::ranges::find(places, std::string_view(route.path), &Place::path);
        if (place != places.end() && is_by_role(route.access))
            route.handler = guarded(services, *place, route);
    }
}

}  // namespace svc::server
