#pragma once
// What surrounds every request: id, log scope, access rule, limits, metrics, faults.
#include <atomic>

#include "libsvc/base/id.h"
#include "libsvc/base/metrics.h"
#include "libsvc/base/thread_pool.h"
#include "libsvc/base/timer.h"
#include "libsvc/net/http/router.h"
#include "libsvc/net/server/server.h"
#include "server/http/authenticate.h"
#include "server/http/http_metrics.h"
#include "server/http/pacer.h"

namespace svc::server {

struct MiddlewareParts {
    const Authenticator& authenticator;
    const AgentTokens& tokens;
    MetricsRegistry& metrics;
    IdSource& ids;
    Clock& clock;
    ThreadPool& workers;                         // where delayed requests go on
    std::string host;                            // label of the metrics
    std::uint64_t max_upload = 0;                // bytes
    std::size_t max_requests_per_second = 1000;  // of each source that is not trusted
};

// The API and, on listeners of their own, the metrics of the service and of its hypervisor. Thread-safe.
class Middleware final : public HttpService {
  public:
    Middleware(MiddlewareParts parts, std::vector<Route> api, std::vector<Route> hypervisor);
    RequestPlan plan(Request& request) override;
    Response fault(const Request* request, const std::exception& error) override;
    void done(const Request& request, int status, std::uint64_t received, std::uint64_t sent,
              std::chrono::nanoseconds duration) override;

  private:
    void announce_series();
    const Router& router(const Request& request) const;
    Router::Match find(const Request& request) const;  // throws not_found and what the access rule throws
    RequestPlan answer(Request& request) const;
    RequestPlan accepted(const Route& route) const;
    std::string_view label(const Request& request) const;
    Duration pause(const Request& request);
    Handler delayed(Handler handler, Duration delay);

    MiddlewareParts parts_;
    HttpMetrics http_metrics_;
    Router api_;
    Router metrics_;
    Router hypervisor_;
    Pacer pacer_;
    Timer timer_;
};

}  // namespace svc::server
