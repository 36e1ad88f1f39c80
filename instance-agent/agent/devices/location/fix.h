#pragma once
// One position of the instance, as the control API sets it and guests get it. Plain values: no threads.
#include <cstdint>
#include <optional>
#include <string_view>

#include "libsvc/base/json.h"
#include "libsvc/formats/nmea_place.h"

namespace svc::agent {

struct Fix {
    double latitude = 0;              // decimal degrees (WGS 84), north positive
    double longitude = 0;             // decimal degrees, east positive
    double altitude = 0;              // metres
    std::int64_t time = 0;            // milliseconds since 1970, UTC
    double speed = 0;                 // metres per second
    double bearing = 0;               // degrees
    double horizontal_accuracy = 20;  // metres, 68 %
    double vertical_accuracy = 20;
    bool operator==(const Fix&) const = default;
};

// Reads the body of an update. Throws invalid_argument with the API's texts.
Fix read_fix(const Json& body);
Json to_json(const Fix& fix);

// "4807.038,N,1131.001,E": the static position that a file gives; its altitude is 0. Nothing for any other
// text.
std::optional<Fix> parse_static_position(std::string_view text);

}  // namespace svc::agent
