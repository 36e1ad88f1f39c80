#include "libsvc/formats/nmea_place.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace svc {
namespace {

constexpr double no_place = 1e9;  // refused by every `limit`

// "4807.038": digits and at most one point.
std::optional<double> parse_magnitude(std::string_view text) {
    const bool plain =
        std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (!plain || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

}  // namespace

std::optional<double> degrees_of_nmea(double value) {
    const double magnitude = std::abs(value);
    const double degrees = std::trunc(magnitude / 100);
    const double minutes = magnitude - 100 * degrees;
    if (!(minutes < 60)) return std::nullopt;
    return std::copysign(degrees + minutes / 60, value);
}

std::optional<double> parse_nmea_coordinate(std::string_view text, std::string_view side,
                                            std::string_view sides, double limit) {
    const double degrees = degrees_of_nmea(parse_magnitude(text).value_or(no_place)).value_or(no_place);
    const bool known_side = side.size() == 1 && sides.find(side) != std::string_view::npos;
    if (!known_side || degrees > limit) return std::nullopt;
    return side == sides.substr(1) ? -degrees : degrees;
}

}  // namespace svc
