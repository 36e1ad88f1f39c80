#pragma once
// The endpoints that an instance may reach because it is launched with their addresses. Pure.
#include <vector>

#include "libsvc/model/instances/instance.h"
#include "libsvc/runtime/runtime.h"

namespace svc {

// The collector of its stream metrics (config.metrics_server), the stream gateway that the user data names
// (docs/streaming.md), and of the session the URLs of the endpoint (load_balancer.url), the proxy
// (container.network_proxy) and, where updates are installed, the mirror (container.apt_mirror). Those that
// are endpoints by a name that the session does not resolve are of no use.
std::vector<AllowedEndpoint> allowed_endpoints(const Instance& instance, const AgentSession& session);

}  // namespace svc
