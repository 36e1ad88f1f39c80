#pragma once
// What surrounds every request: id, log scope, access rule, limits, CORS, metrics, faults.
#include <atomic>

#include "libsvc/base/id.h"
#include "libsvc/net/http/router.h"
#include "libsvc/net/server/server.h"
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
};

// The API and the page, and on a listener of their own the metrics. Thread-safe.
class Middleware final : public HttpService {
  public:
    Middleware(MiddlewareParts parts, std::vector<Route> api, std::vector<Route> metrics);
    RequestPlan plan(Request& request) override;
    Response fault(const Request* request, const std::exception& error) override;
    void done(const Request& request, int status, std::uint64_t received, std::uint64_t sent,
              std::chrono::nanoseconds duration) override;

  private:
    const Router& router(const Request& request) const;
    // Throws not_found, unavailable and what the access rule throws.
    Router::Match find(const Request& request) const;
    std::string_view label(const Request& request) const;
    RequestPlan accepted(const Route& route);
    Response run(const Handler& handler, Request& request);
    Response finished(const Request& request, Response response);

    MiddlewareParts parts_;
    Router api_;
    Router metrics_;
};

}  // namespace svc::gateway
