#pragma once
// svcd's HTTP service: the API and, on listeners of their own, the metrics of the service and of its
// hypervisor.
#include "libsvc/base/id.h"
#include "libsvc/base/metrics.h"
#include "libsvc/base/thread_pool.h"
#include "libsvc/base/timer.h"
#include "libsvc/net/server/routed_service.h"
#include "server/http/delay_budget.h"
#include "server/http/http_metrics.h"
#include "server/http/pacer.h"
#include "server/http/request_counts.h"
#include "server/login/authenticate.h"

namespace svc::server {

struct MiddlewareParts {
    const Authenticator& authenticator;
    const AgentTokens& tokens;
    MetricsRegistry& metrics;
    IdSource& ids;
    Clock& clock;
    ThreadPool& workers;                    // run the requests that were delayed
    Pacer& pacer;                           // of sources that are not trusted
    std::string host;                       // label of the metrics
    std::uint64_t max_upload = 0;           // bytes
    InstanceQuestion instance_exists = {};  // empty: no token opens anything
    // Changes the plan of a request that another manager has to serve; must read memory only. Empty: there is
    // none.
    std::function<void(const Request&, RequestPlan&)> detour = {};
    ThreadPool* untrusted_workers = nullptr;  // run requests of clients that are not trusted; null: `workers`
    ThreadPool* slow_workers = nullptr;       // run the routes on_slow_pool; null: `workers`
    // Hears of each request of a session; on I/O threads: must not wait. Empty: nobody wants to know.
    std::function<void(const BrowserSession&)> used = {};
    RequestCounts* counts = nullptr;  // null: nobody asks for them
};

// Thread-safe. What `parts` refers to outlives it.
class Middleware final : public RoutedService {
  public:
    // `managers`: what managers of one cluster ask of each other.
    Middleware(MiddlewareParts parts, std::vector<Route> api, std::vector<Route> hypervisor,
               std::vector<Route> managers = {});

  protected:
    std::string new_id() override { return parts_.ids.object_id(); }
    void begin(const Request& request) override;
    void check(const Request& request) override;
    void adapt(const Request& request, RequestPlan& plan) override;
    Response reply_to(const std::exception& error) override;
    void end(const Request& request, const ServedRequest& served) override;
    std::string requestor(const Request& request) override;

  private:
    void announce(const std::vector<Transport>& transports, const std::vector<Route>& routes);
    void check_token(const Request& request) const;
    void check_browser(const Request& request) const;
    Duration delay_of(const Request& request);
    Handler delayed(const RequestPlan& plan, Duration delay);

    MiddlewareParts parts_;
    HttpMetrics http_metrics_;
    DelayBudget delay_budget_;
    Timer timer_;
};

}  // namespace svc::server
