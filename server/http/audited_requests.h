#pragma once
// The audit: who has changed what, who has logged in, and who was refused either (docs/trust.md).
#include <memory>
#include <mutex>
#include <string>

#include "libsvc/events/event_bus.h"
#include "libsvc/net/server/server.h"
#include "server/http/audit_log.h"
#include "server/http/authenticate.h"
#include "server/http/refusal_budget.h"

namespace svc::server {

struct AuditParts {
    HttpService& inner;  // the service proper
    const Authenticator& authenticator;
    EventBus& events;
    AuditLog& log;
    const Clock& clock;
};

// Thread-safe. Stands before the service proper. An entry is written before its reply is sent. What it is
// given outlives it.
class AuditedRequests final : public HttpService {
  public:
    explicit AuditedRequests(AuditParts parts) : parts_(parts) {}
    RequestPlan plan(Request& request) override;
    Response fault(const Request* request, const std::exception& error) override;
    void done(const Request& request, int status, std::uint64_t received, std::uint64_t sent,
              std::chrono::nanoseconds duration) override;

  private:
    struct Entry;  // what is known before the request is answered
    std::shared_ptr<const Entry> entry_of(const Request& request) const;
    Response noted(const std::shared_ptr<const Entry>& entry, Response response);
    void note(const Entry& entry, const Response& response);
    bool leaves_out(const Entry& entry, bool refused);
    void tell_left_out();

    const AuditParts parts_;
    std::mutex mutex_;
    RefusalBudget of_strangers_{10, 600};
    RefusalBudget of_clients_{60, 1200};  // of trusted ones that are no admins
};

}  // namespace svc::server
