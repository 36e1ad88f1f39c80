#pragma once
// What the control API does with each request, apart from sockets.
#include <set>

#include "libsvc/base/guarded.h"
#include "libsvc/base/metrics.h"
#include "libsvc/net/server.h"

namespace svc::agent {

// Thread-safe.
class ControlService final : public HttpService {
  public:
    ControlService(std::vector<Route> routes, MetricsRegistry& metrics);

    // Unknown paths and methods are faults. Bodies over a mebibyte are taken few at a time.
    RequestPlan plan(Request& request) override;
    Response fault(const Request* request, const std::exception& error) override;
    void done(const Request& request, int status, std::uint64_t received, std::uint64_t sent,
              std::chrono::nanoseconds duration) override;

  private:
    void admit_large(const Request& request);

    Router router_;
    MetricsRegistry& metrics_;
    Guarded<std::set<const Request*>> large_;  // requests with long bodies under way
};

}  // namespace svc::agent
