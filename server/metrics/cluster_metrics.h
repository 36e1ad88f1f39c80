#pragma once
// svc_cluster_*: nodes, applications, instances, what is reserved, how long they boot.
#include <memory>

#include "libsvc/base/clock.h"
#include "libsvc/base/metrics.h"
#include "libsvc/events/event_bus.h"
#include "libsvc/services/applications/application_service.h"
#include "libsvc/services/instances/instance_service.h"
#include "libsvc/services/nodes/node_service.h"

namespace svc::server {

// Computed at each scrape from the records; boot times are observed as instances come up. Thread-safe.
// Registers a collector with the registry, which therefore must not be rendered after this object's end.
class ClusterMetrics {
  public:
    ClusterMetrics(MetricsRegistry& registry, const NodeService& nodes, const InstanceService& instances,
                   const ApplicationService& applications, EventBus& events, const Clock& clock);

  private:
    void collect(std::string& out) const;
    void observe_boot(const std::string& event) const;

    const NodeService& nodes_;
    const InstanceService& instances_;
    const ApplicationService& applications_;
    const Clock& clock_;
    Histogram& boot_time_;
    std::unique_ptr<EventBus::Handle> subscription_;
};

}  // namespace svc::server
