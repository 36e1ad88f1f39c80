#pragma once
// Reports to the management service, each repeated until it was taken.
#include <optional>
#include <stop_token>

#include "instance-agent/agent/service/service.h"
#include "libsvc/base/clock.h"

namespace svc::agent {

// One thread.
class Reporter {
  public:
    Reporter(AgentSession session, Clock& clock, Call call);
    // Tries the service's socket, then each URL, again and again with growing pauses. True when the report
    // was taken, false when `stop` was requested, `patience` is over, or the service refused it for good
    // (token or instance gone) or none is named: logged.
    bool report(const InstanceReport& report, std::stop_token stop, Duration patience = forever);
    static constexpr Duration forever = Duration::max();

  private:
    std::optional<bool> try_once(const ClientRequest& request);  // nothing: neither taken nor refused

    AgentSession session_;
    Clock& clock_;
    Call call_;
};

}  // namespace svc::agent
