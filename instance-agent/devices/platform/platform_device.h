#pragma once
// The platform of the instance: its name and its configuration items.
#include "instance-agent/devices/device.h"
#include "instance-agent/devices/device_context.h"
#include "instance-agent/devices/platform/platform_items.h"
#include "instance-agent/devices/state_file.h"
#include "libsvc/base/guarded.h"

namespace svc::agent {

// What is set is kept for as long as the instance exists.
class PlatformDevice final : public Device {
  public:
    explicit PlatformDevice(const DeviceContext& context);

    std::vector<Route> routes() override;
    GuestFeature guest_feature() override { return {}; }
    std::vector<std::string> extensions() const override { return {"platform_support"}; }

    Json value(std::string_view item) const;  // for who streams; null: the platform has no such item
    void set_stream_active(bool active);      // by who streams

  private:
    struct State {
        ItemValues values;
        bool stream_active = false;
    };

    Response info() const;
    Response change(const Request& request);
    Response reset(const Request& request);
    void keep(const ItemValues& values) const;
    Json read(const State& state, const PlatformItem& item) const;

    const std::string name_;
    const PlatformItems items_;
    const StateFile state_file_;
    Guarded<State> state_;
};

}  // namespace svc::agent
