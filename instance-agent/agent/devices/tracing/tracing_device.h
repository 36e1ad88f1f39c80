#pragma once
// The tracing device: switches tracing on and off, writes traces, takes events of guests
// (docs/guest-interface.md).
#include "instance-agent/agent/devices/device.h"
#include "instance-agent/agent/devices/device_context.h"
#include "instance-agent/agent/devices/tracing/tracer.h"

namespace svc::agent {

class TracingDevice final : public Device {
  public:
    TracingDevice(const DeviceContext& context, Tracer& tracer);

    std::vector<Route> routes() override;
    GuestFeature guest_feature() override;
    std::vector<std::string> extensions() const override { return {"tracing_support"}; }

  private:
    Response enable(const Request& request);
    Response finish();

    const std::filesystem::path directory_;
    Tracer& tracer_;
};

}  // namespace svc::agent
