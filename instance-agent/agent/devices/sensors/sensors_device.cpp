#include "instance-agent/agent/devices/sensors/sensors_device.h"

#include <algorithm>
#include <set>

#include "instance-agent/agent/control/envelope.h"
#include "instance-agent/agent/devices/request_fields.h"
#include "instance-agent/agent/processes/boot_time.h"
#include "instance-agent/agent/processes/guest_start.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::agent {
namespace {

constexpr std::chrono::milliseconds least_sensor_interval{
    5};  // the fastest rate, whatever delay a guest asks for
constexpr std::int64_t default_delay = 200;
constexpr double most_delay = 3600 * 1000;

Repeater::Key key_of(const GuestSession& session, std::size_t sensor) {
    return {session.id(), sensor};
}

Json names_of_sensors() {
    Json names = Json::array();
    for (const SensorType& type : sensor_types) names.push_back(type.name);
    return names;
}

GuestAnswer list_sensors() {
    Json list = Json::array();
    for (const SensorType& type : sensor_types)
        list.push_back(Json::object(
            {{"type", type.name}, {"min_delay_ms", type.continuous ? least_sensor_interval.count() : 0}}));
    return {Json::object({{"sensors", std::move(list)}})};
}

Json event_of(std::size_t sensor, const SensorValues& values) {
    return Json::object({{"event", "sensor"},
                         {"type", sensor_types[sensor].name},
                         {"timestamp", boot_time()},
                         {"values", JsonArray(values.begin(), values.end())}});
}

}  // namespace

SensorsDevice::SensorsDevice(const DeviceContext& context, Tracer& tracer, StreamLink& link)
    : state_file_(context.state() / "sensors.json", guest_start_key(context.paths)),
      tracer_(tracer),
      link_(link),
      repeater_(context.clock, "sensors") {
    const bool enabled = state_file_.load() == Json::object({{"enabled", true}});
    state_.with([&](State& state) { state.enabled = enabled; });
    link_.when_gone([this] {
        if (streamer_switch_.take_back()) set_switch(false);
    });
}

std::vector<Route> SensorsDevice::routes() {
    const std::string path = "/1.0/sensors";
    return {{Method::get, path, Access::everyone, Dispatch::on_io_thread, "sensors",
             [this](Request&) { return info(); }},
            {Method::post, path, Access::everyone, Dispatch::on_pool, "sensors",
             [this](Request& request) { return enable(request); }},
            {Method::patch, path, Access::everyone, Dispatch::on_pool, "sensors",
             [this](Request& request) { return update(request); }}};
}

Response SensorsDevice::info() const {
    return state_.with([](const State& state) {
        return success(Json::object({{"active_sensors", state.board.active()},
                                     {"enabled", state.enabled},
                                     {"supported_sensors", names_of_sensors()}}));
    });
}

Response SensorsDevice::enable(const Request& request) {
    const Json body = body_of(request);
    const bool on = read_enable(body);
    streamer_switch_.switched(body, on, set_switch(on));
    return success();
}

bool SensorsDevice::set_switch(bool on) {
    return switching_.with([&](bool&) {
        if (state_.with([](const State& state) { return state.enabled; }) == on) return false;
        state_file_.save(Json::object({{"enabled", on}}));
        state_.with([&](State& state) { state.enabled = on; });
        return true;
    });
}

Response SensorsDevice::update(const Request& request) {
    const Json body = body_of(request);
    state_.with([&](State& state) {
        if (!state.enabled) throw Error(ErrorCode::invalid_argument, "Sensor updates are not enabled");
        const auto readings = read_sensor_updates(body, [&](std::size_t sensor) {
            if (!state.board.is_active(sensor))
                throw Error(ErrorCode::invalid_argument,
                            "Sensor " + quoted(sensor_types[sensor].name) + " is not active");
        });
        std::set<std::size_t> changed;  // a list may name one sensor many times
        for (const SensorReading& reading : readings) {
            state.board.set(reading);
            changed.insert(reading.sensor);
        }
        for (const std::size_t sensor : changed) {
            tracer_.instant("sensors", sensor_types[sensor].name);
            for (const auto& [id, user] : state.board.users(sensor)) begin(user, sensor, false);
        }
    });
    return success();
}

GuestFeature SensorsDevice::guest_feature() {
    GuestFeature feature;
    feature.name = "sensors";
    feature.ops["sensors.list"] = [](const auto&, const JsonFields&) { return list_sensors(); };
    feature.ops["sensors.activate"] = [this](const auto& session, const JsonFields& request) {
        return activate(session, request.value());
    };
    feature.closed = [this](const GuestSessionPtr& session) {
        for (std::size_t sensor = 0; sensor < sensor_count; ++sensor) switch_off(*session, sensor);
    };
    return feature;
}

GuestAnswer SensorsDevice::activate(const GuestSessionPtr& session, const Json& request) {
    const std::size_t sensor = sensor_index(require_text(request, "type"));
    const bool on = require_boolean(request, "on");
    const std::chrono::milliseconds delay(
        read_integer(request, "delay_ms", {0, most_delay}).value_or(default_delay));
    if (!on) {
        switch_off(*session, sensor);
        return {};
    }
    state_.with([&](State& state) {
        state.board.switch_on(sensor, session, delay);
        link_.sensor(sensor_types[sensor].name, true);
        if (state.board.last(sensor)) begin({session, delay}, sensor, true);
    });
    return {};
}

void SensorsDevice::switch_off(const GuestSession& session, std::size_t sensor) {
    state_.with([&](State& state) {
        state.board.switch_off(sensor, session.id());
        if (!state.board.is_active(sensor)) link_.sensor(sensor_types[sensor].name, false);
    });
    repeater_.stop(key_of(session, sensor));
}

// Sends the last value to a session: repeats it for continuous sensors, sends it once for the others.
// `again`: restarts the repetition with another rate.
void SensorsDevice::begin(const SensorBoard::User& user, std::size_t sensor, bool again) {
    const auto tell_it = [this, session = user.session, sensor] { tell(session, sensor); };
    if (!sensor_types[sensor].continuous) return repeater_.once(tell_it);
    const auto key = key_of(*user.session, sensor);
    if (again || !repeater_.has(key))
        repeater_.start(key, std::max(user.delay, least_sensor_interval), tell_it);
}

void SensorsDevice::tell(const GuestSessionPtr& session, std::size_t sensor) const {
    const auto values = state_.with([&](const State& state) {
        const bool is_user = state.board.users(sensor).count(session->id()) != 0;
        return is_user ? state.board.last(sensor) : std::nullopt;
    });
    if (values) session->send_event(event_of(sensor, *values));
}

}  // namespace svc::agent
