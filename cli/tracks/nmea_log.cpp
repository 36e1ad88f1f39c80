#include <charconv>
#include <cmath>

#include "cli/tracks/track.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/formats/nmea_place.h"

namespace svc::cli {
namespace {

constexpr std::int64_t day = 86'400'000;  // ms
constexpr double metres_per_knot = 0.514444;
constexpr std::size_t longest_sentence = 256;  // the standard allows 82

using Fields = std::vector<std::string>;

bool sum_is_right(std::string_view body, std::string_view written) {
    unsigned sum = 0, expected = 0;
    for (const char c : body) sum ^= static_cast<unsigned char>(c);
    const auto [end, error] = std::from_chars(written.data(), written.data() + written.size(), expected, 16);
    return written.size() == 2 && error == std::errc() && end == written.data() + 2 && sum == expected;
}

// The fields of a sentence. Nothing: the line is damaged. The checksum may be missing.
std::optional<Fields> fields_of(std::string_view line) {
    if (line.size() > longest_sentence || !line.starts_with('$')) return std::nullopt;
    line.remove_prefix(1);
    const auto star = line.find('*');
    if (star != std::string_view::npos && !sum_is_right(line.substr(0, star), line.substr(star + 1)))
        return std::nullopt;
    return split(line.substr(0, star), ',');
}

std::optional<double> parse_number(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
        return std::nullopt;
    return value;
}

// Two digits; -1 for anything else.
int pair_of(std::string_view text, std::size_t at) {
    const auto digit = [&](std::size_t i) { return i < text.size() && text[i] >= '0' && text[i] <= '9'; };
    return digit(at) && digit(at + 1) ? (text[at] - '0') * 10 + text[at + 1] - '0' : -1;
}

// "123519.25": milliseconds of the day.
std::optional<std::int64_t> time_of_day(const std::string& text) {
    const int hours = pair_of(text, 0), minutes = pair_of(text, 2);
    const auto seconds = text.size() >= 6 ? parse_number(std::string_view(text).substr(4)) : std::nullopt;
    if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59 || !seconds || *seconds < 0 || *seconds >= 61)
        return std::nullopt;
    return (hours * 60 + minutes) * std::int64_t{60'000} + std::llround(*seconds * 1000);
}

// "230394": milliseconds from 1970 to that day.
std::optional<std::int64_t> date_of(const std::string& text) {
    using namespace std::chrono;
    const int dd = pair_of(text, 0), mm = pair_of(text, 2), yy = pair_of(text, 4);
    if (dd < 0 || mm < 0 || yy < 0) return std::nullopt;
    const year_month_day date{year(yy < 80 ? 2000 + yy : 1900 + yy), month(static_cast<unsigned>(mm)),
                              std::chrono::day(static_cast<unsigned>(dd))};
    if (!date.ok()) return std::nullopt;
    return sys_days(date).time_since_epoch().count() * day;
}

class NmeaLogReader {
  public:
    // False: the sentence is damaged.
    bool take(const Fields& fields) {
        if (fields.empty() || fields[0].size() < 5) return false;
        if (fields[0].ends_with("GGA")) return take_gga(fields);
        if (fields[0].ends_with("RMC")) return take_rmc(fields);
        return true;
    }
    std::vector<TrackPoint> points;

  private:
    bool take_gga(const Fields& fields) {
        if (fields.size() < 10) return false;
        if (fields[6] == "0" || fields[6].empty()) return true;  // no fix
        TrackPoint* point = place(fields, 1, 2);
        if (point != nullptr) point->altitude = parse_number(fields[9]);
        return point != nullptr;
    }

    bool take_rmc(const Fields& fields) {
        if (fields.size() < 10) return false;
        if (fields[2] != "A") return true;
        if (const auto date = date_of(fields[9])) move_to(*date);
        TrackPoint* point = place(fields, 1, 3);
        if (point == nullptr) return false;
        if (const auto knots = parse_number(fields[7]); knots && *knots >= 0)
            point->speed = *knots * metres_per_knot;
        if (const auto course = parse_number(fields[8]); course && *course >= 0 && *course <= 360)
            point->bearing = *course;
        return true;
    }

    // The first date also applies to the points before it. Later dates are not needed: times that pass
    // midnight tell as much.
    void move_to(std::int64_t date) {
        if (dated_) return;
        dated_ = true;
        for (TrackPoint& point : points)
            if (point.time) *point.time += date - midnight_;
        midnight_ = date;
    }

    // The point of this time: the last point when its time is the same, else a new one. Null: the position is
    // not valid.
    TrackPoint* place(const Fields& fields, std::size_t time_at, std::size_t at) {
        const auto time = time_of_day(fields[time_at]);
        const auto latitude = parse_nmea_coordinate(fields[at], fields[at + 1], "NS", 90);
        const auto longitude = parse_nmea_coordinate(fields[at + 2], fields[at + 3], "EW", 180);
        if (!time || !latitude || !longitude) return nullptr;
        if (points.empty() || last_time_ != *time) {
            if (last_time_ && *time < *last_time_ - day / 2) midnight_ += day;
            points.push_back({*latitude, *longitude, midnight_ + *time, {}, {}, {}});
        }
        last_time_ = *time;
        return &points.back();
    }

    std::int64_t midnight_ = 0;
    bool dated_ = false;
    std::optional<std::int64_t> last_time_;
};

}  // namespace

Track read_nmea(std::string_view text) {
    NmeaLogReader reader;
    std::size_t skipped = 0;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        const std::string_view line = trim(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.empty() || line.starts_with('!') || line.starts_with('#')) continue;  // AIS, remarks
        const auto fields = fields_of(line);
        if (!fields || !reader.take(*fields)) ++skipped;
    }
    if (reader.points.empty()) throw Error(ErrorCode::invalid_argument, "NMEA: there is no place in it");
    return {std::move(reader.points), skipped};
}

}  // namespace svc::cli
