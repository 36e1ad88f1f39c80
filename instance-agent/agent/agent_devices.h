#pragma once
// The devices of an instance, built in one place, and what they give to the two servers.
#include <memory>

#include "instance-agent/agent/devices/device.h"
#include "instance-agent/agent/devices/device_context.h"
#include "instance-agent/agent/devices/stream/stream_link.h"
#include "instance-agent/agent/devices/tracing/tracer.h"

namespace svc::agent {

// Thread-safe. Outlives the servers that got its routes and features.
class AgentDevices {
  public:
    explicit AgentDevices(DeviceContext context);

    std::vector<Route> routes();
    std::vector<GuestFeature> features();
    void refresh();  // of each device
    // What works now, in the order of the API's description; what that does not name comes last.
    std::vector<std::string> extensions() const;

  private:
    DeviceContext context_;
    Tracer tracer_;
    StreamLink link_;
    std::vector<std::unique_ptr<Device>> devices_;
};

}  // namespace svc::agent
