#pragma once
// Tells the client what programs of the guest use: sensors, the camera, the microphone, a screen keyboard.
// The agent reports them.
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
    void microphone(bool in_use);                       // a program of the guest records
    void client_ready(const ClientSettings& settings);  // the client's control channel is open
    void client_gone();
    void control_lost();  // tells the client, which only watches from now on, that nothing is wanted any more

  private:
    void set_sensor(const std::string& type, bool active);
    void tell_sensor(const std::string& type, bool active);
    void set_camera(const JsonFields& members);
    void set_keyboard(bool visible);
    void tell_microphone();

    CameraRelay& camera_;
    TellClient tell_client_;
    std::set<std::string> sensors_;  // sensors that are on
    bool keyboard_ = false, microphone_ = false;
    bool ready_ = false, client_has_microphone_ = false;
};

}  // namespace svc::streamer
