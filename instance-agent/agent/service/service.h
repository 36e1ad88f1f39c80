#pragma once
// The management service as the instance reaches it.
#include <functional>
#include <vector>

#include "libsvc/model/instances/instance.h"
#include "libsvc/net/client/client.h"

namespace svc::agent {

// One call to one place; throws Error `unavailable` when nobody answers there. Tests put their own in.
using Call = std::function<ClientReply(const Target&, const ClientRequest&)>;

// Where the service may be reached, in this order: its socket, then each URL.
std::vector<Target> service_targets(const AgentSession& session);

// The first answer; `unavailable` of the last target when none answers. `make_request` is called for each.
ClientReply call_any(const AgentSession& session, const Call& call,
                     const std::function<ClientRequest()>& make_request);

// A request with the instance's token.
ClientRequest authorised_request(const AgentSession& session, Method method, std::string path);

}  // namespace svc::agent
