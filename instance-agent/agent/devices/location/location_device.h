#pragma once
// The location of the instance: the control API sets it, guests get it as events and as NMEA on a pseudo
// terminal (docs/location.md).
#include <map>
#include <optional>

#include "instance-agent/agent/devices/device.h"
#include "instance-agent/agent/devices/device_context.h"
#include "instance-agent/agent/devices/location/fix_source.h"
#include "instance-agent/agent/devices/location/gnss_pty.h"
#include "instance-agent/agent/devices/repeater.h"
#include "instance-agent/agent/devices/stream_link.h"
#include "instance-agent/agent/devices/tracing/tracer.h"
#include "instance-agent/agent/files/state_file.h"

namespace svc::agent {

class LocationDevice final : public Device {
  public:
    LocationDevice(const DeviceContext& context, Tracer& tracer, StreamLink& link);

    std::vector<Route> routes() override;
    GuestFeature guest_feature() override;
    std::vector<std::string> extensions() const override { return {"location_support"}; }
    void refresh() override;

  private:
    using Subscribers = std::map<std::uint64_t, GuestSessionPtr>;

    Response enable(const Request& request);
    bool set_switch(bool on);  // false: nothing changed
    Response update(const Request& request);
    GuestAnswer subscribe(const GuestSessionPtr& session, const Json& request);
    void unsubscribe(const GuestSession& session);
    void tell(const GuestSessionPtr& session, bool as_nmea);
    void tell_enabled(bool on);
    void open_pty(const DeviceContext& context);
    void feed_pty();

    StateFile state_file_;
    FixSource source_;
    Tracer& tracer_;
    std::optional<GnssPty> pty_;  // used by the repeater's thread, except its links
    Guarded<Subscribers> subscribers_;
    StreamerSwitch streamer_switch_;
    Guarded<bool> stored_;  // locked while the device is switched, so that file and state agree
    Repeater repeater_;     // last member: its calls use the others
};

}  // namespace svc::agent
