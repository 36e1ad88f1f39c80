#pragma once
// Filters of the lists of applications and instances: ?status=ready,error&tags=game. A list of values means
// any of them; of `tags` and `addons`, which are lists themselves, all of them. Other query keys say nothing.
// Both throw invalid_argument for a value that none can have, where there is a list of those they can.
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
    std::function<bool(const Instance&)> wanted;  // empty: all of them
    std::optional<std::string> only;              // id or name of the one that may pass; absent: more may
};
InstanceFilter instance_filter(const Request& request, const NodeService& nodes);

}  // namespace svc::server
