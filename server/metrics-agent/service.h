#pragma once
// The HTTP service of svc-metrics: instances POST /write on one listener, Prometheus GETs /metrics on another
// one.
#include "libsvc/net/server/routed_service.h"
#include "server/metrics-agent/collector.h"

namespace svc::metrics_agent {

inline constexpr std::string_view write_listener = "write";
inline constexpr std::string_view scrape_listener = "scrape";

// Every client may write and read. Thread-safe; `collector` outlives it.
class Service final : public RoutedService {
  public:
    explicit Service(Collector& collector);

  protected:
    Response reply_to(const std::exception& error) override;
};

}  // namespace svc::metrics_agent
