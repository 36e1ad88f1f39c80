#pragma once
// Makes the session file that the agent of an instance finds in its container.
#include <functional>
#include <string>
#include <vector>

#include "libsvc/model/instances/instance.h"
#include "libsvc/services/configuration/config_service.h"
#include "libsvc/services/instances/launch/boot_limit.h"
#include "libsvc/services/nodes/node_service.h"
#include "libsvc/services/trust/agent_tokens.h"

namespace svc {

// How instances reach the service where its socket does not answer. Plain value.
struct ServiceReach {
    std::vector<std::string> urls;  // https://..., in the order in which they are tried
    std::string fingerprint;        // of the certificate at all of them, and behind load_balancer.url
};

// Thread-safe.
class GuestSessions {
  public:
    // `common`: what all sessions share (service_socket, boot_timeout_seconds). `reach` is asked for each
    // session.
    GuestSessions(AgentSession common, std::function<ServiceReach()> reach, const ConfigService& config,
                  const AgentTokens& tokens, const NodeService& nodes, const BootLimit& limit);
    // Issues a token, and may look up the host of the load balancer.
    AgentSession make(const Instance& planned) const;

  private:
    const AgentSession common_;
    const std::function<ServiceReach()> reach_;
    const ConfigService& config_;
    const AgentTokens& tokens_;
    const NodeService& nodes_;
    const BootLimit& limit_;
};

}  // namespace svc
