#pragma once
// A recorded way, read from a file, and how to put it into an instance again. Pure functions.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/json.h"

namespace svc::cli {

struct TrackPoint {
    double latitude = 0, longitude = 0;  // degrees, north and east positive
    std::optional<std::int64_t> time;    // milliseconds since any beginning, the same for all points
    std::optional<double> altitude;      // metres
    std::optional<double> speed;         // metres per second
    std::optional<double> bearing;       // degrees
};

struct Track {
    std::vector<TrackPoint> points;
    std::size_t skipped = 0;  // lines or sentences that could not be read
};

// GPX 1.0 and 1.1: the points of all tracks, else of all routes, else the waypoints. Throws invalid_argument
// for what is no such file, has a point that is nowhere, or none at all.
Track read_gpx(std::string_view text);

// A log of NMEA 0183: GGA and RMC of any receiver; others are passed over, damaged sentences are counted.
// Throws invalid_argument when there is no place in it.
Track read_nmea(std::string_view text);

// One of them, by the name's end (.gpx, .nmea) or, with another one, by how the text begins.
Track read_track(const std::string& name, std::string_view text);

struct ReplayStep {
    Duration after;  // the beginning
    Json update;     // as the location's route takes it, without a time
};
// `speed`: 2 is twice as fast as it was recorded. Points without a time come a second after the one before.
// Missing speeds and bearings are those of the way from the point before.
std::vector<ReplayStep> plan_replay(const Track& track, double speed);

}  // namespace svc::cli
