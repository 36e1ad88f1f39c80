#pragma once
// svc-gateway's HTTP service: the API and the page, on a listener of their own the metrics, and one for other
// gateways, which has only what they pass on (server/cluster/forwarded_requests.h).
#include <atomic>
#include <functional>

#include "libsvc/base/id.h"
#include "libsvc/net/server/routed_service.h"
#include "server/gateway/authenticate.h"
#include "server/gateway/cors.h"
#include "server/gateway/http_metrics.h"

namespace svc::gateway {

enum class Phase { starting, serving, stopping };

struct MiddlewareParts {
    const Authenticator& authenticator;
    const Cors& cors;
    HttpMetrics& metrics;
    IdSource& ids;
    const std::atomic<Phase>& phase;
    // Changes the plan of a request that another gateway has to serve; must read memory only. Empty: there is
    // none.
    std::function<void(const Request&, RequestPlan&)> detour = {};
};

// Thread-safe. What `parts` refers to outlives it.
class Middleware final : public RoutedService {
  public:
    Middleware(MiddlewareParts parts, std::vector<Route> api, std::vector<Route> metrics);

  protected:
    std::string new_id() override { return parts_.ids.object_id(); }
    const Route* unlisted_route(const Request& request, bool path_known) override;
    void begin(const Request& request) override;
    void check(const Request& request) override;
    void adapt(const Request& request, RequestPlan& plan) override;
    Response reply_to(const std::exception& error) override;
    void decorate(const Request& request, Response& response) override;
    void end(const Request& request, const ServedRequest& served) override;

  private:
    MiddlewareParts parts_;
    const Route preflight_;  // OPTIONS of any path: a browser asks what pages of other origins may do
};

}  // namespace svc::gateway
