#pragma once
// The metrics svc_cluster_*: nodes, applications, instances, reserved resources, boot times.
#include <memory>

#include "libsvc/base/metrics.h"
#include "libsvc/events/event_bus.h"
#include "libsvc/services/applications/application_service.h"
#include "libsvc/services/instances/instance_service.h"
#include "libsvc/services/nodes/node_service.h"
#include "server/metrics/history_sampler.h"

namespace svc::server {

// Computed from the records at each scrape; boot times are observed when instances become `running`,
// and told to the history.
// Thread-safe. It registers a collector: nothing may render the registry after this object is destroyed.
class ClusterMetrics {
  public:
    ClusterMetrics(MetricsRegistry& registry, const NodeService& nodes, const InstanceService& instances,
                   const ApplicationService& applications, EventBus& events, HistorySampler& history);

  private:
    void collect(std::string& out) const;
    void observe_boot(const std::string& event) const;

    const NodeService& nodes_;
    const InstanceService& instances_;
    const ApplicationService& applications_;
    HistorySampler& history_;
    Histogram& boot_time_;
    std::unique_ptr<EventBus::Handle> subscription_;
};

}  // namespace svc::server
