#include "cli/tracks/track.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::cli {
namespace {

constexpr double earth_radius = 6371008.8;  // metres
constexpr std::int64_t usual_pause = 1000;  // ms, between points without times
constexpr double most_metres = 1e8;         // also metres per second: the limit of the location's route
constexpr double longest_replay = 3e12;     // ms: a century, which a Duration holds

double radians(double degrees) {
    return degrees * std::numbers::pi / 180;
}

double metres_between(const TrackPoint& a, const TrackPoint& b) {
    const double across = std::sin(radians(b.latitude - a.latitude) / 2);
    const double along = std::sin(radians(b.longitude - a.longitude) / 2);
    const double h =
        across * across + std::cos(radians(a.latitude)) * std::cos(radians(b.latitude)) * along * along;
    return 2 * earth_radius * std::asin(std::min(1.0, std::sqrt(h)));
}

double bearing_between(const TrackPoint& a, const TrackPoint& b) {
    const double turn = radians(b.longitude - a.longitude);
    const double y = std::sin(turn) * std::cos(radians(b.latitude));
    const double x = std::cos(radians(a.latitude)) * std::sin(radians(b.latitude)) -
                     std::sin(radians(a.latitude)) * std::cos(radians(b.latitude)) * std::cos(turn);
    const double degrees = std::atan2(y, x) * 180 / std::numbers::pi;
    return degrees < 0 ? degrees + 360 : degrees;
}

// A time before the one of the last point counts as no pause.
std::int64_t pause_between(const TrackPoint& a, const TrackPoint& b) {
    if (!a.time || !b.time) return usual_pause;
    return std::max<std::int64_t>(0, *b.time - *a.time);
}

Json update_of(const TrackPoint& point, double speed, double bearing) {
    return Json::object({{"latitude", point.latitude},
                         {"longitude", point.longitude},
                         {"altitude", std::clamp(point.altitude.value_or(0), -most_metres, most_metres)},
                         {"speed", std::min(point.speed.value_or(speed), most_metres)},
                         {"bearing", point.bearing.value_or(bearing)}});
}

}  // namespace

Track read_track(const std::string& name, std::string_view text) {
    const std::string lower = to_lower(name);
    if (lower.ends_with(".gpx")) return read_gpx(text);
    if (lower.ends_with(".nmea")) return read_nmea(text);
    const auto begin = text.find_first_of("<$");
    if (begin == std::string_view::npos)
        throw Error(ErrorCode::invalid_argument, quoted(name) + " is neither GPX nor NMEA");
    return text[begin] == '<' ? read_gpx(text) : read_nmea(text);
}

std::vector<ReplayStep> plan_replay(const Track& track, double speed) {
    std::vector<ReplayStep> steps;
    double at = 0, moving = 0, bearing = 0;  // at: recorded time in milliseconds
    for (std::size_t i = 0; i < track.points.size(); ++i) {
        const TrackPoint& point = track.points[i];
        if (i > 0) {
            const TrackPoint& before = track.points[i - 1];
            const auto pause = static_cast<double>(pause_between(before, point));
            const double metres = metres_between(before, point);
            at += pause;
            moving = pause > 0 ? metres / (pause / 1000) : 0;
            if (metres > 0) bearing = bearing_between(before, point);
        }
        const std::chrono::duration<double, std::milli> after(std::min(at / speed, longest_replay));
        steps.push_back({std::chrono::duration_cast<Duration>(after), update_of(point, moving, bearing)});
    }
    return steps;
}

}  // namespace svc::cli
