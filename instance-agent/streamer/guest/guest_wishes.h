#pragma once
// What programs of the guest want of the client, as the agent tells it: sensors, the camera, a screen
// keyboard.
#include <set>
#include <string>

#include "instance-agent/streamer/guest/camera_relay.h"

namespace svc::streamer {

// One thread.
class GuestWishes {
  public:
    using TellClient = CameraRelay::TellClient;

    GuestWishes(CameraRelay& camera, TellClient tell_client)
        : camera_(camera), tell_client_(std::move(tell_client)) {}

    void attached(const JsonFields& answer);  // throws invalid_argument, as event() does
    void event(const std::string& name, const JsonFields& members);
    void microphone(bool in_use);                       // a program of the guest listens to it
    void client_ready(const ClientSettings& settings);  // its control channel is open
    void client_gone();

  private:
    void set_sensor(const std::string& type, bool active);
    void tell_sensor(const std::string& type, bool active);
    void set_camera(const JsonFields& members);
    void set_keyboard(bool visible);
    void tell_microphone();

    CameraRelay& camera_;
    TellClient tell_client_;
    std::set<std::string> sensors_;  // that are on
    bool keyboard_ = false, microphone_ = false;
    bool ready_ = false, client_has_microphone_ = false;
};

}  // namespace svc::streamer
