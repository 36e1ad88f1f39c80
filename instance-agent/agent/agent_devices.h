#pragma once
// Makes all devices of an instance and collects their routes and guest features for the two servers.
#include <memory>

#include "instance-agent/agent/devices/device.h"
#include "instance-agent/agent/devices/device_context.h"
#include "instance-agent/agent/devices/stream_link.h"
#include "instance-agent/agent/devices/tracing/tracer.h"

namespace svc::agent {

// Thread-safe. Must outlive the servers that got its routes and features.
class AgentDevices {
  public:
    explicit AgentDevices(DeviceContext context);

    std::vector<Route> routes();
    std::vector<GuestFeature> features();
    void refresh();  // Device::refresh() of each device
    // The names of the API extensions that work now, in the order of the API's description; names that the
    // description lacks come last.
    std::vector<std::string> extensions() const;

  private:
    DeviceContext context_;
    Tracer tracer_;
    StreamLink link_;
    std::vector<std::unique_ptr<Device>> devices_;
};

}  // namespace svc::agent
