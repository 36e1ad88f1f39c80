#pragma once
// The streamer's side of the guest interface (docs/streaming.md, "Between streamer and agent").
#include "instance-agent/agent/devices/device.h"
#include "instance-agent/agent/devices/platform/platform_device.h"
#include "instance-agent/agent/devices/stream_link.h"

namespace svc::agent {

// The streamer is the guest session that attached last.
class StreamDevice final : public Device {
  public:
    // Link and platform outlive the device.
    StreamDevice(StreamLink& link, PlatformDevice& platform, bool automotive)
        : link_(link), platform_(platform), automotive_(automotive) {}

    std::vector<Route> routes() override { return {}; }
    GuestFeature guest_feature() override;
    std::vector<std::string> extensions() const override { return {}; }

  private:
    GuestAnswer attach(const GuestSessionPtr& session);
    GuestAnswer change_state(const GuestSession& session, const Json& request);
    GuestAnswer show_keyboard(bool visible);

    StreamLink& link_;
    PlatformDevice& platform_;
    const bool automotive_;
};

}  // namespace svc::agent
