#pragma once
// What the control API does with each request, apart from sockets.
#include <map>

#include "libsvc/base/guarded.h"
#include "libsvc/base/metrics.h"
#include "libsvc/net/server/server.h"

namespace svc::agent {

// Thread-safe.
class ControlService final : public HttpService {
  public:
    ControlService(std::vector<Route> routes, MetricsRegistry& metrics);

    // Unknown paths and methods are faults. Of long bodies, few are taken at a time.
    RequestPlan plan(Request& request) override;
    Response fault(const Request* request, const std::exception& error) override;
    void done(const Request& request, int status, std::uint64_t received, std::uint64_t sent,
              std::chrono::nanoseconds duration) override;

  private:
    void admit(const Request& request, std::uint64_t bytes);

    Router router_;
    MetricsRegistry& metrics_;
    Guarded<std::map<const Request*, std::uint64_t>> bodies_;  // how long those under way may get
};

}  // namespace svc::agent
