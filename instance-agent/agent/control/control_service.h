#pragma once
// The HTTP service of the agent's control API (specification: Instance-local control API). A path or method
// that no route takes is answered 400 "API endpoint does not exist".
#include <map>

#include "libsvc/base/guarded.h"
#include "libsvc/base/metrics.h"
#include "libsvc/net/server/routed_service.h"

namespace svc::agent {

// Thread-safe. `metrics` outlives it.
class ControlService final : public RoutedService {
  public:
    ControlService(std::vector<Route> routes, MetricsRegistry& metrics);

  protected:
    // Long bodies are received a few at a time: the agent must not take the instance's memory.
    void check(const Request& request) override;
    Response reply_to(const std::exception& error) override;
    void end(const Request& request, const ServedRequest& served) override;

  private:
    MetricsRegistry& metrics_;
    // How many bytes the bodies that are being received may get to have.
    Guarded<std::map<const Request*, std::uint64_t>> bodies_;
};

}  // namespace svc::agent
