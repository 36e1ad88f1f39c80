#pragma once
// Coordinates in the form of NMEA 0183, ddmm.mmm: degrees and minutes in one number. Pure functions.
#include <optional>
#include <string_view>

namespace svc {

// 4533.35 is 45 degrees and 33.35 minutes. Nothing when the minutes are 60 or more.
std::optional<double> degrees_of_nmea(double value);

// "4807.038", "N" as decimal degrees; negative when `side` is the second letter of `sides` ("NS", "EW").
// Nothing: another form, or more than `limit` degrees.
std::optional<double> parse_nmea_coordinate(std::string_view text, std::string_view side,
                                            std::string_view sides, double limit);

}  // namespace svc
