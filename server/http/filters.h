#pragma once
// Filters of the lists of applications and instances: ?status=ready,error&tags=game. A record passes when it
// has one of the values; of `tags` and `addons`, which are lists themselves, all of them. Other keys of the
// query are ignored. Both functions throw invalid_argument for a value that no record can have, for keys with
// a closed set of values.
#include <functional>
#include <optional>
#include <string>

#include "libsvc/model/instances/instance.h"
#include "libsvc/model/packages/application.h"
#include "libsvc/net/http/request.h"
#include "libsvc/services/nodes/node_service.h"

namespace svc::server {

std::function<bool(const Application&)> application_filter(const Request& request);

struct InstanceFilter {
    std::function<bool(const Instance&)> wanted;  // empty: all pass
    std::optional<std::string> only;              // set: only the instance with this id or name can pass
};
InstanceFilter instance_filter(const Request& request, const NodeService& nodes);

}  // namespace svc::server
