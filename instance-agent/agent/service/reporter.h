#pragma once
// Sends reports to the management service and retries them.
#include <optional>
#include <stop_token>

#include "instance-agent/agent/service/service_calls.h"
#include "libsvc/base/clock.h"

namespace svc::agent {

// One thread.
class Reporter {
  public:
    Reporter(AgentSession session, Clock& clock, Call call);
    // Tries every target of service_targets(), and retries with growing pauses. True when the service has
    // taken the report. False when `stop` was requested, when `patience` has passed, when the service refused
    // the report for good (token or instance is gone), or when the session names no target; the reason is
    // logged.
    bool report(const InstanceReport& report, std::stop_token stop, Duration patience = forever);
    static constexpr Duration forever = Duration::max();

  private:
    std::optional<bool> try_once(
        const ClientRequest& request);  // nothing: neither taken nor refused, to be retried

    AgentSession session_;
    Clock& clock_;
    Call call_;
};

}  // namespace svc::agent
