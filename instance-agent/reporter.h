#pragma once
// Reports to the management service, each repeated until it was taken.
#include <functional>
#include <string>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/model/instance.h"
#include "libsvc/net/client.h"

namespace svc::agent {

// One call to one place; throws Error `unavailable` when nobody answers there. Tests put their own in.
using Call = std::function<ClientReply(const Target&, const ClientRequest&)>;

// One thread.
class Reporter {
  public:
    Reporter(AgentSession session, Clock& clock, Call call);
    // Tries the service's socket, then each URL, again and again with growing pauses. True when the report
    // was taken, false when `stop` was requested, or when the service refused it for good (token or instance
    // gone): logged.
    bool report(const InstanceReport& report, std::stop_token stop);

  private:
    std::vector<Target> targets() const;
    ClientReply call_any(const ClientRequest& request);

    AgentSession session_;
    Clock& clock_;
    Call call_;
};

}  // namespace svc::agent
