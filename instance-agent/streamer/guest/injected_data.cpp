#include "instance-agent/streamer/guest/injected_data.h"

#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"

namespace svc::streamer {

namespace {

constexpr double gravity = 9.81;

struct SensorFields {
    std::string_view sensor;
    std::array<std::string_view, 3> fields;
    double factor;  // from the client's unit to the API's
};
// Browsers report rotation in degrees a second, guests expect radians.
constexpr std::array<SensorFields, 3> client_sensors{{{"acceleration", {"x", "y", "z"}, 1},
                                                      {"gyroscope", {"x", "y", "z"}, std::numbers::pi / 180},
                                                      {"orientation", {"azimuth", "pitch", "roll"}, 1}}};

constexpr std::array<std::string_view, 5> value_fields{"int32_values", "int64_values", "float_values",
                                                       "bytes", "string_value"};

std::uint32_t id_of(const Json& data, std::string_view key, std::optional<std::int64_t> fallback) {
    const JsonFields fields(data);
    const auto id = fields.raw(key) == nullptr ? fallback : std::optional(fields.raw(key)->as_int());
    if (!id) throw_invalid(key, "missing");
    if (*id < INT32_MIN || *id > UINT32_MAX) throw_invalid(key, "out of range");
    return static_cast<std::uint32_t>(*id);
}

// The API writes ids as signed numbers.
Json place_of(const Json& data) {
    return Json::object({{"prop", static_cast<std::int32_t>(id_of(data, "prop", std::nullopt))},
                         {"area_id", static_cast<std::int32_t>(id_of(data, "area_id", 0))}});
}

Json values_of(const Json& data) {
    Json values = Json::object();
    for (const std::string_view field : value_fields) {
        const Json* value = data.find(field);
        const bool given =
            value != nullptr && (value->is_array() ? !value->as_array().empty()
                                                   : value->is_string() && !value->as_string().empty());
        if (given) values.set(std::string(field), *value);
    }
    return values;
}

}  // namespace

// Tries again at each value while an operator has the device: the operator may switch it off.
bool InjectedData::Switch::take(const ControlApi& api) {
    if (ours_) return true;
    if (const Json state = api.call(Method::get, path_); state.at("enabled").as_bool()) return false;
    api.call(Method::post, path_, Json::object({{"enable", true}, {"stream", true}}));
    return ours_ = true;
}

void InjectedData::Switch::update(const ControlApi& api, const Json& body) {
    if (!take(api)) return;
    try {
        api.call(Method::patch, path_, body);
    } catch (const Error& e) {
        const std::string_view text = e.what();
        if (text.ends_with("is not active")) return;  // no guest has the sensor on
        if (text.ends_with("are not enabled")) ours_ = false;
        throw;
    }
}

void InjectedData::Switch::release(const ControlApi& api) {
    if (!std::exchange(ours_, false)) return;
    api.call(Method::post, path_, Json::object({{"enable", false}}));
}

InjectedData::InjectedData(const std::filesystem::path& api_socket, EventQueue& queue, TellClient tell_client)
    : queue_(queue),
      tell_client_(std::move(tell_client)),
      values_(api_socket, "values"),
      vehicle_(api_socket, "vehicle") {}

bool InjectedData::apply(const std::string& type, const Json& data) {
    if (type == "location::update-position") {
        update_location(data);
    } else if (type == "sensor:event") {
        update_sensor(data);
    } else if (type == "screen::change_orientation") {
        turn_screen(data);
    } else if (type == "vhal::get-all-prop-configs") {
        get_configs();
    } else if (type == "vhal::get") {
        get_property(data);
    } else if (type == "vhal::set") {
        set_property(data);
    } else {
        return false;
    }
    return true;
}

void InjectedData::client_gone() {
    ++client_;
    values_.submit("release", [this](const ControlApi& api) {
        location_.release(api);
        sensors_.release(api);
    });
}

void InjectedData::update_location(const Json& data) {
    if (!data.is_object()) throw_invalid("data", "must be an object");
    values_.submit("location", [this, data](const ControlApi& api) { location_.update(api, data); });
}

void InjectedData::update_sensor(const Json& data) {
    const JsonFields fields(data);
    const std::string sensor = fields.require_string("sensor");
    for (const SensorFields& known : client_sensors) {
        if (known.sensor != sensor) continue;
        Json reading = Json::object({{"type", sensor}});
        for (const std::string_view field : known.fields) {
            const auto value = fields.number(field);
            if (!value) return;  // devices without this sensor send null
            reading.set(std::string(field), *value * known.factor);
        }
        return send_sensor(sensor, std::move(reading));
    }
    throw_invalid("sensor", "unknown");
}

void InjectedData::send_sensor(const std::string& sensor, Json reading) {
    const Json body = Json::array({std::move(reading)});
    values_.submit("sensor " + sensor, [this, body](const ControlApi& api) { sensors_.update(api, body); });
}

// Older clients send the orientation of the device: it becomes the direction of gravity.
void InjectedData::turn_screen(const Json& data) {
    const std::string orientation = JsonFields(data).require_string("orientation");
    const bool reverse = orientation.starts_with("reverse-");
    const std::string_view side = std::string_view(orientation).substr(reverse ? 8 : 0);
    if (side != "portrait" && side != "landscape") throw_invalid("orientation", "unknown");
    const double weight = reverse ? -gravity : gravity;
    const bool lies = side == "landscape";
    send_sensor(
        "acceleration",
        Json::object(
            {{"type", "acceleration"}, {"x", lies ? weight : 0.0}, {"y", lies ? 0.0 : weight}, {"z", 0.0}}));
}

// Requests run one after another: clients match answers by their order.
void InjectedData::ask_vehicle(const std::string& answer_type,
                               const std::function<Json(const ControlApi&)>& ask, const Json& place) {
    if (vehicle_requests_ >= max_vehicle_requests)
        throw Error(ErrorCode::exhausted, "too many vehicle requests");
    const bool taken =
        vehicle_.submit([this, client = client_, answer_type, ask, place](const ControlApi& api) {
            Json answer;
            try {
                answer = ask(api);
            } catch (const Error& e) {
                answer = place;
                if (answer.is_object()) answer.set("error", e.what());
                log::debug("vehicle request failed", {{"error", e.what()}});
            }
            queue_.post([this, client, answer_type, answer] {
                --vehicle_requests_;
                if (client == client_) tell_client_(answer_type, answer);
            });
        });
    if (taken) ++vehicle_requests_;
}

void InjectedData::get_configs() {
    ask_vehicle(
        "vhal-prop-configs",
        [](const ControlApi& api) { return api.call(Method::get, "/1.0/vhal/config").at("configs"); },
        Json::array());
}

// An error is also sent as the answer, because the client waits for one.
void InjectedData::get_property(const Json& data) {
    const auto ask = [data](const ControlApi& api) {
        const std::string path = "/1.0/vhal/" + std::to_string(id_of(data, "prop", std::nullopt)) + "/" +
                                 std::to_string(id_of(data, "area_id", 0));
        const Json with = values_of(data);
        return api.call(Method::get, path, with.as_object().empty() ? Json() : with).at("value");
    };
    ask_vehicle("vhal-get-answer", ask, place_of(data));
}

void InjectedData::set_property(const Json& data) {
    Json place = place_of(data);
    const auto ask = [data, place](const ControlApi& api) {
        Json body = values_of(data);
        body.set("prop_id", place.at("prop"));
        body.set("area_id", place.at("area_id"));
        if (const Json* status = data.find("status"); status != nullptr && !status->is_null())
            body.set("status", *status);
        api.call(Method::put, "/1.0/vhal", body);
        return place;
    };
    ask_vehicle("vhal-set-answer", ask, place);
}

}  // namespace svc::streamer
