#include "instance-agent/streamer/guest/guest_wishes.h"

#include <algorithm>
#include <array>
#include <utility>

namespace svc::streamer {

namespace {

// The sensors that clients have.
constexpr std::array<std::string_view, 3> client_sensors{"acceleration", "gyroscope", "orientation"};

}  // namespace

void GuestWishes::attached(const JsonFields& answer) {
    std::set<std::string> active;
    for (const std::string& type : answer.strings("active_sensors").value_or(std::vector<std::string>()))
        active.insert(type);
    for (const std::string& type : std::set<std::string>(sensors_))
        if (!active.contains(type)) set_sensor(type, false);
    for (const std::string& type : active) set_sensor(type, true);
    camera_.all_closed();
    if (const auto cameras = answer.objects("cameras"))
        for (const JsonFields& camera : *cameras)
            camera_.opened(camera.require_int("handle"), CameraWish::from_json(camera));
}

void GuestWishes::event(const std::string& name, const JsonFields& members) {
    if (name == "stream.sensor")
        set_sensor(members.require_string("type"), members.boolean("active").value_or(false));
    else if (name == "stream.camera")
        set_camera(members);
    else if (name == "stream.ime")
        set_keyboard(members.boolean("visible").value_or(false));
}

void GuestWishes::set_sensor(const std::string& type, bool active) {
    const bool changed = active ? sensors_.insert(type).second : sensors_.erase(type) > 0;
    if (changed && ready_) tell_sensor(type, active);
}

void GuestWishes::tell_sensor(const std::string& type, bool active) {
    if (std::find(client_sensors.begin(), client_sensors.end(), type) == client_sensors.end()) return;
    tell_client_(active ? "activate-sensor" : "deactivate-sensor", Json::object({{"type", type}}));
}

void GuestWishes::set_camera(const JsonFields& members) {
    const std::int64_t handle = members.require_int("handle");
    if (members.boolean("open").value_or(false))
        return camera_.opened(handle, CameraWish::from_json(members));
    camera_.closed(handle);
}

void GuestWishes::set_keyboard(bool visible) {
    keyboard_ = visible;
    if (ready_) tell_client_(visible ? "show-ime" : "hide-ime", Json::object());
}

void GuestWishes::microphone(bool in_use) {
    if (std::exchange(microphone_, in_use) != in_use && ready_) tell_microphone();
}

void GuestWishes::tell_microphone() {
    if (!client_has_microphone_) return;
    if (!microphone_) return tell_client_("disable-microphone", Json::object());
    tell_client_("enable-microphone", Json::object({{"freq", 48000}, {"channels", 2}, {"samples", 512}}));
}

void GuestWishes::client_ready(const ClientSettings& settings) {
    ready_ = true;
    for (const std::string& type : sensors_) tell_sensor(type, true);
    if (keyboard_) tell_client_("show-ime", Json::object());
    client_has_microphone_ = settings.microphone;
    if (microphone_) tell_microphone();
    camera_.client_ready(settings.camera);
}

// The client stays: it is to close what it has opened for the guest. The camera's end is told as ever.
void GuestWishes::control_lost() {
    if (!ready_) return;
    for (const std::string& type : sensors_) tell_sensor(type, false);
    if (keyboard_) tell_client_("hide-ime", Json::object());
    if (microphone_ && client_has_microphone_) tell_client_("disable-microphone", Json::object());
    client_gone();
}

void GuestWishes::client_gone() {
    ready_ = false;
    camera_.client_gone();
}

}  // namespace svc::streamer
