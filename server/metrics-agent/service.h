#pragma once
// HTTP of the metrics agent: POST /write where instances send, GET /metrics where Prometheus asks.
#include "libsvc/net/http/router.h"
#include "libsvc/net/server/server.h"
#include "server/metrics-agent/collector.h"

namespace svc::metrics_agent {

inline constexpr std::string_view write_listener = "write";
inline constexpr std::string_view scrape_listener = "scrape";

// Nobody is asked who they are. Thread-safe.
class Service final : public HttpService {
  public:
    explicit Service(Collector& collector);
    RequestPlan plan(Request& request) override;
    Response fault(const Request* request, const std::exception& error) override;
    void done(const Request&, int, std::uint64_t, std::uint64_t, std::chrono::nanoseconds) override {}

  private:
    Router write_, scrape_;
};

}  // namespace svc::metrics_agent
