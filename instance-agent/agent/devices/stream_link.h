#pragma once
// The way from devices to the streamer: the guest session that streams the screen, when there is one. Also
// keeps which sensors and cameras guests use, for a streamer that attaches later.
#include <atomic>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "instance-agent/agent/guest/guest_session.h"
#include "libsvc/base/guarded.h"

namespace svc::agent {

// A camera that a guest has open.
struct OpenCamera {
    std::uint16_t handle = 0;
    std::string camera, facing;
    std::uint32_t width = 0, height = 0, fps = 0;
    Json to_json() const;
};

// Thread-safe. Never blocks: the streamer's session queues events.
class StreamLink {
  public:
    struct Uses {
        std::set<std::string> sensors;  // sensors that guests have switched on
        std::map<std::uint16_t, OpenCamera> cameras;
    };

    // Makes this session the streamer and returns the present uses; later changes come as events. A streamer
    // before it gets the event stream.detached.
    Uses attach(const GuestSessionPtr& session);
    bool detach(const GuestSession& session);  // false: it was not the streamer
    bool is_streamer(const GuestSession& session) const;

    void sensor(std::string_view type, bool active);  // sends an event when this changes the state
    void camera_opened(const OpenCamera& camera);
    void camera_closed(std::uint16_t handle);
    bool send(const Json& event);  // false: there is no streamer

    // Adds a call for gone(). Devices that a streamer may switch on use it to switch off. Only before the
    // first streamer attaches.
    void when_gone(std::function<void()> call);
    // The streamer has ended or was replaced: makes the calls of when_gone(). Errors are logged.
    void gone() const;

  private:
    struct State {
        GuestSessionPtr streamer;
        Uses uses;
        bool is(const GuestSession& session) const;
        bool send(const Json& event) const;
    };
    Guarded<State> state_;
    std::vector<std::function<void()>> gone_calls_;
};

// Remembers whether the streamer has switched a device on, or an operator. Thread-safe.
class StreamerSwitch {
  public:
    // Notes a request that has switched the device, or left it as it was (`changed`). A request of an
    // operator that changed nothing still makes the switch the operator's.
    void switched(const Json& body, bool on, bool changed);
    bool take_back() { return streamer_switch_.exchange(false); }  // true: the streamer had switched it on

  private:
    std::atomic<bool> streamer_switch_ = false;
};

}  // namespace svc::agent
