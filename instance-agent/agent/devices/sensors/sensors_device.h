#pragma once
// Sensors: guests switch them on, the control API sets their values (docs/guest-interface.md).
#include "instance-agent/agent/devices/device.h"
#include "instance-agent/agent/devices/device_context.h"
#include "instance-agent/agent/devices/repeater.h"
#include "instance-agent/agent/devices/sensors/sensor_board.h"
#include "instance-agent/agent/devices/stream_link.h"
#include "instance-agent/agent/devices/tracing/tracer.h"
#include "instance-agent/agent/files/state_file.h"

namespace svc::agent {

class SensorsDevice final : public Device {
  public:
    SensorsDevice(const DeviceContext& context, Tracer& tracer, StreamLink& link);

    std::vector<Route> routes() override;
    GuestFeature guest_feature() override;
    std::vector<std::string> extensions() const override { return {"sensor_support", "active_sensors"}; }

  private:
    struct State {
        bool enabled = false;
        SensorBoard board;
    };

    Response info() const;
    Response enable(const Request& request);
    bool set_switch(bool on);  // false: nothing changed
    Response update(const Request& request);
    GuestAnswer activate(const GuestSessionPtr& session, const Json& request);
    void switch_off(const GuestSession& session, std::size_t sensor);
    void begin(const SensorBoard::User& user, std::size_t sensor, bool again);
    void tell(const GuestSessionPtr& session, std::size_t sensor) const;

    const StateFile state_file_;
    Tracer& tracer_;
    StreamLink& link_;  // learns which sensors guests use
    StreamerSwitch streamer_switch_;
    Guarded<State> state_;
    Guarded<bool> switching_;  // locked while the device is switched, so that file and state agree
    Repeater repeater_;        // last member: its calls use the others
};

}  // namespace svc::agent
