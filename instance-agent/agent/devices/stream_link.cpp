#include "instance-agent/agent/devices/stream_link.h"

#include <utility>

#include "instance-agent/agent/devices/request_fields.h"
#include "libsvc/base/error.h"
#include "libsvc/base/log.h"

namespace svc::agent {
namespace {

Json camera_event(bool open, const OpenCamera& camera) {
    Json event = Json::object({{"event", "stream.camera"}, {"open", open}});
    const Json members = camera.to_json();
    for (const auto& [name, value] : members.as_object()) event.set(name, value);
    return event;
}

}  // namespace

Json OpenCamera::to_json() const {
    return Json::object({{"handle", static_cast<unsigned>(handle)},
                         {"camera", camera},
                         {"width", width},
                         {"height", height},
                         {"fps", fps},
                         {"facing", facing}});
}

bool StreamLink::State::is(const GuestSession& session) const {
    return streamer != nullptr && streamer->id() == session.id();
}

bool StreamLink::State::send(const Json& event) const {
    if (streamer == nullptr) return false;
    streamer->send_event(event);
    return true;
}

StreamLink::Uses StreamLink::attach(const GuestSessionPtr& session) {
    return state_.with([&](State& state) {
        if (!state.is(*session)) state.send(Json::object({{"event", "stream.detached"}}));
        state.streamer = session;
        return state.uses;
    });
}

bool StreamLink::detach(const GuestSession& session) {
    return state_.with([&](State& state) {
        if (!state.is(session)) return false;
        state.streamer.reset();
        return true;
    });
}

bool StreamLink::is_streamer(const GuestSession& session) const {
    return state_.with([&](const State& state) { return state.is(session); });
}

void StreamLink::sensor(std::string_view type, bool active) {
    const std::string name(type);
    state_.with([&](State& state) {
        const bool changed =
            active ? state.uses.sensors.insert(name).second : state.uses.sensors.erase(name) != 0;
        if (changed)
            state.send(Json::object({{"event", "stream.sensor"}, {"type", name}, {"active", active}}));
    });
}

void StreamLink::camera_opened(const OpenCamera& camera) {
    state_.with([&](State& state) {
        state.uses.cameras[camera.handle] = camera;
        state.send(camera_event(true, camera));
    });
}

void StreamLink::camera_closed(std::uint16_t handle) {
    state_.with([&](State& state) {
        const auto found = state.uses.cameras.find(handle);
        if (found == state.uses.cameras.end()) return;
        state.send(camera_event(false, found->second));
        state.uses.cameras.erase(found);
    });
}

bool StreamLink::send(const Json& event) {
    return state_.with([&](const State& state) { return state.send(event); });
}

void StreamLink::when_gone(std::function<void()> call) {
    gone_calls_.push_back(std::move(call));
}

void StreamLink::gone() const {
    for (const auto& call : gone_calls_) try {
            call();
        } catch (const Error& e) {
            log::warning("what the streamer had switched on stays on", {{"error", e.what()}});
        }
}

void StreamerSwitch::switched(const Json& body, bool on, bool changed) {
    const Json* const flag = find_field(body, "stream");
    const bool of_stream = flag != nullptr && flag->is_bool() && flag->as_bool();
    if (changed)
        streamer_switch_ = on && of_stream;
    else if (!of_stream)
        streamer_switch_ = false;
}

}  // namespace svc::agent
