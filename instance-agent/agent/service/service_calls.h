#pragma once
// HTTP calls from the instance to the management service.
#include <functional>
#include <vector>

#include "libsvc/model/instances/instance.h"
#include "libsvc/net/client/client.h"

namespace svc::agent {

// One HTTP request to one target. Throws Error `unavailable` when the target does not answer. Tests replace
// it.
using Call = std::function<ClientReply(const Target&, const ClientRequest&)>;

// The addresses of the service in the order in which they are tried: its socket, then each URL of the session
// file.
std::vector<Target> service_targets(const AgentSession& session);

// The reply of the first target that answers. Throws the `unavailable` of the last target when none does.
// `make_request` is called once for each target.
ClientReply call_any(const AgentSession& session, const Call& call,
                     const std::function<ClientRequest()>& make_request);

// A request that carries the instance's token.
ClientRequest authorised_request(const AgentSession& session, Method method, std::string path);

}  // namespace svc::agent
