#pragma once
// The services that an instance is told to use by what it is launched with. Pure.
#include <vector>

#include "libsvc/model/instances/instance.h"
#include "libsvc/runtime/runtime.h"

namespace svc {

// The collector of its stream metrics (config.metrics_server), the stream gateway that the user data names
// (docs/streaming.md), and of the session the URLs of the service (load_balancer.url) and the proxy
// (container.network_proxy). Those that are told by a name that the session does not resolve are of no use.
std::vector<ToldService> told_services(const Instance& instance, const AgentSession& session);

}  // namespace svc
