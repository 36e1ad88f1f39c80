#include "instance-agent/agent/devices/location/fix.h"

#include <cmath>

#include "instance-agent/agent/devices/request_fields.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::agent {
namespace {

constexpr double max_latitude = 90;
constexpr double max_longitude = 180;
constexpr double no_place = 1e9;                      // beyond all limits
constexpr double last_millisecond = 253402300799999;  // of the year 9999: dates have four digits
constexpr Range altitudes{-1e8, 1e8};
constexpr Range speeds{0, 1e8};
constexpr Range accuracies{std::numeric_limits<double>::min(), 1e8};

enum class Form { wgs84, nmea };

Form read_form(const Json& body) {
    const Json* value = find_field(body, "format");
    if (value == nullptr) return Form::wgs84;
    const std::string text = value->is_string() ? value->as_string() : value->dump();
    if (text != "wgs84" && text != "nmea")
        throw Error(ErrorCode::invalid_argument, "Invalid location format " + quoted(text));
    return text == "nmea" ? Form::nmea : Form::wgs84;
}

double read_coordinate(const Json& body, std::string_view name, Form form, double limit) {
    const double value = require_number(body, name);
    const double degrees = form == Form::nmea ? degrees_of_nmea(value).value_or(no_place) : value;
    if (std::abs(degrees) > limit) throw_invalid_field(name);
    return degrees;
}

}  // namespace

Fix read_fix(const Json& body) {
    if (!body.is_object()) throw Error(ErrorCode::invalid_argument, "Request body must be an object");
    const Form form = read_form(body);
    Fix fix;
    fix.latitude = read_coordinate(body, "latitude", form, max_latitude);
    fix.longitude = read_coordinate(body, "longitude", form, max_longitude);
    fix.altitude = require_number(body, "altitude", altitudes);
    fix.time = std::llround(require_number(body, "time", {0, last_millisecond}));
    fix.speed = require_number(body, "speed", speeds);
    fix.bearing = require_number(body, "bearing", {0, 360});
    fix.horizontal_accuracy =
        read_number(body, "horizontal_accuracy", accuracies).value_or(fix.horizontal_accuracy);
    fix.vertical_accuracy =
        read_number(body, "vertical_accuracy", accuracies).value_or(fix.vertical_accuracy);
    return fix;
}

Json to_json(const Fix& fix) {
    return Json::object({{"latitude", fix.latitude},
                         {"longitude", fix.longitude},
                         {"altitude", fix.altitude},
                         {"time", fix.time},
                         {"speed", fix.speed},
                         {"bearing", fix.bearing},
                         {"horizontal_accuracy", fix.horizontal_accuracy},
                         {"vertical_accuracy", fix.vertical_accuracy}});
}

std::optional<Fix> parse_static_position(std::string_view text) {
    const auto parts = split(trim(text), ',');
    if (parts.size() != 4) return std::nullopt;
    const auto latitude = parse_nmea_coordinate(trim(parts[0]), trim(parts[1]), "NS", max_latitude);
    const auto longitude = parse_nmea_coordinate(trim(parts[2]), trim(parts[3]), "EW", max_longitude);
    if (!latitude || !longitude) return std::nullopt;
    Fix fix;
    fix.latitude = *latitude;
    fix.longitude = *longitude;
    return fix;
}

}  // namespace svc::agent
