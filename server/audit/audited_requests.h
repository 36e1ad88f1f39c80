#pragma once
// The audit: who has changed what, who has logged in, and who was refused either (docs/trust.md).
#include <memory>
#include <mutex>
#include <string>

#include "libsvc/base/thread_pool.h"
#include "libsvc/events/event_bus.h"
#include "libsvc/net/server/server.h"
#include "server/audit/audit_entry.h"
#include "server/audit/audit_log.h"
#include "server/audit/refusal_budget.h"

namespace svc::server {

struct AuditParts {
    HttpService& inner;  // the service proper
    const Authenticator& authenticator;
    EventBus& events;  // of the audit alone
    AuditLog& log;
    AuditLog& strangers;  // their refusals: they push out nothing else
    const Clock& clock;
    std::size_t waiting_refusals = 1000;  // more are left out while the disk takes none
};

// Thread-safe. Stands before the service proper. An entry is written before its reply is sent: of what was
// done by the thread that did it, of what was refused, often on an I/O thread, by a thread of the audit, for
// which the reply waits. What it is given outlives it.
class AuditedRequests final : public HttpService {
  public:
    explicit AuditedRequests(AuditParts parts)
        : parts_(parts), refusals_("audit", 1, parts.waiting_refusals) {}
    RequestPlan plan(Request& request) override;
    Response fault(const Request* request, const std::exception& error) override;
    // An entry of what the service has done by itself. By any thread.
    void note(const Json& record) { write({}, record, parts_.log); }
    void done(const Request& request, int status, std::uint64_t received, std::uint64_t sent,
              std::chrono::nanoseconds duration) override;

  private:
    using Entry = std::shared_ptr<const AuditEntry>;
    Entry entry_of(const Request& request) const;
    Response noted(const Entry& entry, Response response);
    Response refused(const Entry& entry, Response response);
    Json record_of(const AuditEntry& entry, const Response& response) const;
    void write(const AuditEntry& entry, const Json& record, AuditLog& log);
    bool leaves_out(const AuditEntry& entry);
    std::uint64_t take_left_out();
    void tell_left_out();

    const AuditParts parts_;
    std::mutex counting_;  // is never held while something is written
    RefusalBudget of_strangers_{10, 600};
    RefusalBudget of_clients_{60, 1200};  // of trusted ones that are no admins
    std::uint64_t too_many_waiting_ = 0;
    std::mutex order_;     // lines and events have one order
    ThreadPool refusals_;  // last: what it writes uses the rest
};

}  // namespace svc::server
