#pragma once
// Places as NMEA 0183 writes them, ddmm.mmm: degrees and minutes in one number. Pure functions.
#include <optional>
#include <string_view>

namespace svc {

// 4533.35 is 45 degrees and 33.35 minutes. Nothing when the minutes are 60 or more.
std::optional<double> degrees_of_nmea(double value);

// "4807.038", "N": decimal degrees, negative on the second of `sides` ("NS", "EW"). Nothing for what is not
// written so, or is more than `limit` degrees.
std::optional<double> parse_nmea_coordinate(std::string_view text, std::string_view side,
                                            std::string_view sides, double limit);

}  // namespace svc
