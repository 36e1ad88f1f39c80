#include "instance-agent/agent/devices/sensors/sensor_types.h"

#include <algorithm>
#include <cfloat>

#include "instance-agent/agent/devices/request_fields.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::agent {
namespace {

[[noreturn]] void refuse_sensor(const std::string& text) {
    throw Error(ErrorCode::invalid_argument, text);
}

SensorValues read_sensor_values(const Json& entry, const SensorType& type) {
    SensorValues values;
    for (const std::string_view field : type.fields) {
        if (field.empty()) break;
        if (find_field(entry, field) == nullptr)
            refuse_sensor("Missing field " + quoted(field) + " for sensor " + quoted(type.name));
        values.push_back(require_number(entry, field, {-FLT_MAX, FLT_MAX}));
    }
    return values;
}

SensorReading read_entry(const Json& entry, const std::function<void(std::size_t)>& check_sensor) {
    if (!entry.is_object()) refuse_sensor("Sensor data must be an object");
    const std::size_t sensor = sensor_index(require_text(entry, "type"));
    check_sensor(sensor);
    return {sensor, read_sensor_values(entry, sensor_types[sensor])};
}

}  // namespace

std::size_t sensor_index(const std::string& name) {
    const auto found = std::find_if(sensor_types.begin(), sensor_types.end(),
                                    [&](const SensorType& type) { return type.name == name; });
    if (found == sensor_types.end()) refuse_sensor("Unknown sensor type " + quoted(name));
    return static_cast<std::size_t>(found - sensor_types.begin());
}

std::vector<SensorReading> read_sensor_updates(const Json& body,
                                               const std::function<void(std::size_t)>& check_sensor) {
    if (!body.is_array()) refuse_sensor("Request body must be an array");
    if (body.as_array().empty()) refuse_sensor("No sensor data provided");
    std::vector<SensorReading> readings;
    for (const Json& entry : body.as_array()) readings.push_back(read_entry(entry, check_sensor));
    return readings;
}

}  // namespace svc::agent
