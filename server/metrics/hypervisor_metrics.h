#pragma once
// The metrics svc_instance_*: CPU, memory, disk and network of running instances, as the runtime counts them.
#include <string>
#include <string_view>

#include "libsvc/runtime/runtime.h"
#include "libsvc/services/applications/application_service.h"
#include "libsvc/services/instances/instance_service.h"

namespace svc::server {

// Thread-safe. Each call asks the runtime.
class HypervisorMetrics {
  public:
    HypervisorMetrics(Runtime& runtime, const InstanceService& instances,
                      const ApplicationService& applications)
        : runtime_(runtime), instances_(instances), applications_(applications) {}
    // The whole scrape; with an id, the series of this instance alone.
    std::string render(std::string_view instance = {}) const;

  private:
    Runtime& runtime_;
    const InstanceService& instances_;
    const ApplicationService& applications_;
};

}  // namespace svc::server
