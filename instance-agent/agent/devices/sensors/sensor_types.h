#pragma once
// The table of sensors: names, fields of their values, how they report.
#include <array>
#include <functional>
#include <string_view>
#include <vector>

#include "libsvc/base/json.h"

namespace svc::agent {

struct SensorType {
    std::string_view name;
    std::array<std::string_view, 3> fields;  // "": no such field
    bool continuous;                         // values are repeated at a rate; else sent at each update
};

inline constexpr std::size_t sensor_count = 9;
inline constexpr std::array<std::string_view, 3> axes{"x", "y", "z"};
inline constexpr std::array<SensorType, sensor_count> sensor_types{{
    {"acceleration", axes, true},
    {"gyroscope", axes, true},
    {"magnetic-field", axes, true},
    {"orientation", {"azimuth", "pitch", "roll"}, true},
    {"temperature", {"value"}, false},
    {"proximity", {"value"}, false},
    {"light", {"value"}, false},
    {"pressure", {"value"}, true},
    {"humidity", {"value"}, false},
}};

// The sensor's index in the table. Throws invalid_argument "Unknown sensor type '<name>'".
std::size_t sensor_index(const std::string& name);

using SensorValues = std::vector<double>;  // as many as the sensor has fields
struct SensorReading {
    std::size_t sensor = 0;
    SensorValues values;
};

// Reads the body of an update and checks all of it. `check_sensor` refuses a sensor by throwing. The error is
// that of the first wrong entry.
std::vector<SensorReading> read_sensor_updates(const Json& body,
                                               const std::function<void(std::size_t)>& check_sensor);

}  // namespace svc::agent
