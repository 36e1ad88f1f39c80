#pragma once
// Makes the session file that the agent of an instance finds in its container.
#include "libsvc/model/instances/instance.h"
#include "libsvc/services/configuration/config_service.h"
#include "libsvc/services/instances/launch/boot_limit.h"
#include "libsvc/services/nodes/node_service.h"
#include "libsvc/services/trust/agent_tokens.h"

namespace svc {

// Thread-safe.
class GuestSessions {
  public:
    // `common`: what all sessions share (service_socket, service_urls, service_fingerprint).
    GuestSessions(AgentSession common, const ConfigService& config, const AgentTokens& tokens,
                  const NodeService& nodes, const BootLimit& limit);
    // Issues a token, and may look up the host of the load balancer.
    AgentSession make(const Instance& planned) const;

  private:
    const AgentSession common_;
    const ConfigService& config_;
    const AgentTokens& tokens_;
    const NodeService& nodes_;
    const BootLimit& limit_;
};

}  // namespace svc
