#pragma once
// Reads recorded tracks from files and converts them to timed updates of an instance's location. Pure
// functions.
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
    std::optional<std::int64_t> time;    // milliseconds since a moment that is the same for all points
    std::optional<double> altitude;      // metres
    std::optional<double> speed;         // metres per second
    std::optional<double> bearing;       // degrees
};

struct Track {
    std::vector<TrackPoint> points;
    std::size_t skipped = 0;  // lines or sentences that could not be read
};

// Reads GPX 1.0 and 1.1: the points of all tracks, else of all routes, else the waypoints. Throws
// invalid_argument for any other file, a point without a valid position, or a file without points.
Track read_gpx(std::string_view text);

// Reads a log of NMEA 0183: GGA and RMC sentences of any receiver. Other sentences are skipped, damaged ones
// counted. Throws invalid_argument when the log has no position.
Track read_nmea(std::string_view text);

// Reads either format, by the end of the file's name (.gpx, .nmea) or else by the time since the beginning of
// the text.
Track read_track(const std::string& name, std::string_view text);

struct ReplayStep {
    Duration after;  // the beginning
    Json update;     // the body for the location's route, without a time
};
// `speed`: 2 replays twice as fast as recorded. A point without a time follows a second after the one before.
// A missing speed or bearing is computed from the point before.
std::vector<ReplayStep> plan_replay(const Track& track, double speed);

}  // namespace svc::cli
