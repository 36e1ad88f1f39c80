#pragma once
// The platform of the instance: its name and its configuration items.
#include "instance-agent/agent/devices/device.h"
#include "instance-agent/agent/devices/device_context.h"
#include "instance-agent/agent/devices/platform/platform_items.h"
#include "instance-agent/agent/devices/stream_link.h"
#include "instance-agent/agent/files/state_file.h"
#include "libsvc/base/guarded.h"

namespace svc::agent {

// Set values are kept as long as the instance exists.
class PlatformDevice final : public Device {
  public:
    PlatformDevice(const DeviceContext& context, StreamLink& link);

    std::vector<Route> routes() override;
    GuestFeature guest_feature() override { return {}; }
    std::vector<std::string> extensions() const override { return {"platform_support"}; }

    Json value(std::string_view item) const;  // null: the platform has no such item
    Json stream_items() const;                // all items of the streamer
    void set_stream_active(bool active);      // called for the streamer

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
    Json read(const State& state, std::string_view item) const;
    Json stream_items(const State& state) const;
    void set(State& state, ItemValues values);

    const std::string name_;
    const PlatformItems items_;
    const StateFile state_file_;
    StreamLink& link_;  // learns of changed items
    Guarded<State> state_;
};

}  // namespace svc::agent
