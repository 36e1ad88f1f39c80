#pragma once
// The telephony device: routes /1.0/telephony of the control API and the ops telephony.* of the guest
// interface (docs/telephony.md).
#include "instance-agent/agent/devices/device.h"
#include "instance-agent/agent/devices/telephony/telephony.h"

namespace svc::agent {

class TelephonyDevice final : public Device {
  public:
    explicit TelephonyDevice(const DeviceContext& context) : telephony_(context) {}

    std::vector<Route> routes() override;
    GuestFeature guest_feature() override;
    std::vector<std::string> extensions() const override { return {"telephony"}; }

  private:
    Telephony telephony_;
};

}  // namespace svc::agent
