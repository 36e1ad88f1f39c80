#pragma once
// svc_cluster_*: nodes, instances, what is reserved, how long they boot.
#include <string>

#include "libsvc/base/metrics.h"
#include "libsvc/services/instance_service.h"
#include "libsvc/services/node_service.h"

namespace svc::server {

// Where the instance service puts how long its instances took to boot.
Histogram& boot_time_histogram(MetricsRegistry& registry);

// Computed at each scrape from the records. Thread-safe. Registers a collector with the registry, which
// therefore must not be rendered after this object's end.
class ClusterMetrics {
  public:
    ClusterMetrics(MetricsRegistry& registry, const NodeService& nodes, const InstanceService& instances);

  private:
    void collect(std::string& out) const;

    const NodeService& nodes_;
    const InstanceService& instances_;
};

}  // namespace svc::server
