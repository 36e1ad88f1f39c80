#include "instance-agent/agent/devices/stream/stream_device.h"

#include "instance-agent/agent/devices/request_fields.h"
#include "libsvc/base/error.h"
#include "libsvc/base/log.h"

namespace svc::agent {

GuestFeature StreamDevice::guest_feature() {
    GuestFeature feature;
    feature.name = "stream";
    feature.ops["stream.attach"] = [this](const auto& session, const JsonFields&) { return attach(session); };
    feature.ops["stream.state"] = [this](const auto& session, const JsonFields& request) {
        return change_state(*session, request.value());
    };
    feature.ops["ime.show"] = [this](const auto&, const JsonFields&) { return show_keyboard(true); };
    feature.ops["ime.hide"] = [this](const auto&, const JsonFields&) { return show_keyboard(false); };
    feature.closed = [this](const GuestSessionPtr& session) {
        if (!link_.detach(*session)) return;
        platform_.set_stream_active(false);
        link_.gone();
        log::info("the streamer has gone");
    };
    return feature;
}

// Ops run one after another on one thread, so that no other session becomes the streamer between these steps.
GuestAnswer StreamDevice::attach(const GuestSessionPtr& session) {
    if (!session->may_control()) throw Error(ErrorCode::forbidden, "permission denied");
    if (!link_.is_streamer(*session)) {
        platform_.set_stream_active(false);
        link_.gone();
    }
    const StreamLink::Uses uses = link_.attach(session);
    GuestAnswer answer{platform_.stream_items()};
    Json cameras = Json::array(), sensors = Json::array();
    for (const std::string& sensor : uses.sensors) sensors.push_back(sensor);
    for (const auto& [handle, camera] : uses.cameras) cameras.push_back(camera.to_json());
    answer.members.set("active_sensors", std::move(sensors));
    answer.members.set("cameras", std::move(cameras));
    answer.members.set("automotive", automotive_);
    log::info("a streamer attached", {{"session", std::to_string(session->id())}});
    return answer;
}

GuestAnswer StreamDevice::change_state(const GuestSession& session, const Json& request) {
    const bool active = require_boolean(request, "active");
    if (!link_.is_streamer(session)) throw Error(ErrorCode::forbidden, "not the streamer");
    platform_.set_stream_active(active);
    return {};
}

GuestAnswer StreamDevice::show_keyboard(bool visible) {
    if (!link_.send(Json::object({{"event", "stream.ime"}, {"visible", visible}})))
        throw Error(ErrorCode::unavailable, "nobody watches");
    return {};
}

}  // namespace svc::agent
