#include "instance-agent/agent/devices/location/nmea.h"

#include <fmt/format.h>

#include <cmath>
#include <ctime>

namespace svc::agent {
namespace {

constexpr double knots_per_metre = 1.943844;  // metres per second to knots
constexpr double metres_per_hdop = 19;        // gpsd counts this for one unit of dilution
constexpr double metres_per_vdop = 23;
constexpr std::int64_t minute_parts = 100000;  // minutes are written with five digits

// "4807.03800,N". Rounded to whole parts of a minute first, so that 59.999999 becomes the next degree and
// not 60.00000.
std::string coordinate(double degrees, int width, std::string_view sides) {
    const std::int64_t parts = std::llround(std::abs(degrees) * 60 * static_cast<double>(minute_parts));
    const std::int64_t whole = parts / (60 * minute_parts);
    const std::int64_t minutes = parts % (60 * minute_parts);
    return fmt::format("{:0{}}{:02}.{:05},{}", whole, width, minutes / minute_parts, minutes % minute_parts,
                       degrees < 0 ? sides[1] : sides[0]);
}

std::string place(const Fix& fix) {
    return coordinate(fix.latitude, 2, "NS") + "," + coordinate(fix.longitude, 3, "EW");
}

std::tm utc(std::int64_t time) {
    const std::time_t seconds = time / 1000;
    std::tm parts{};
    ::gmtime_r(&seconds, &parts);
    return parts;
}

std::string time_of_day(std::int64_t time) {
    const std::tm parts = utc(time);
    return fmt::format("{:02}{:02}{:02}.{:02}", parts.tm_hour, parts.tm_min, parts.tm_sec, time % 1000 / 10);
}

std::string date(std::int64_t time) {
    const std::tm parts = utc(time);
    return fmt::format("{:02}{:02}{:02}", parts.tm_mday, parts.tm_mon + 1, parts.tm_year % 100);
}

std::string gga(const Fix& fix) {
    return fmt::format("GPGGA,{},{},1,08,{:.3f},{:.2f},M,0.0,M,,", time_of_day(fix.time), place(fix),
                       fix.horizontal_accuracy / metres_per_hdop, fix.altitude);
}

std::string rmc(const Fix& fix) {
    return fmt::format("GPRMC,{},A,{},{:.3f},{:.2f},{},,,A", time_of_day(fix.time), place(fix),
                       fix.speed * knots_per_metre, fix.bearing, date(fix.time));
}

std::string gsa(const Fix& fix) {
    const double horizontal = fix.horizontal_accuracy / metres_per_hdop;
    const double vertical = fix.vertical_accuracy / metres_per_vdop;
    return fmt::format("GPGSA,A,3,01,02,03,04,05,06,07,08,,,,,{:.3f},{:.3f},{:.3f}",
                       std::hypot(horizontal, vertical), horizontal, vertical);
}

std::string gst(const Fix& fix) {
    const double axis = fix.horizontal_accuracy / std::sqrt(2.0);  // equal errors north and east
    return fmt::format("GPGST,{},{:.2f},{:.2f},{:.2f},0.0,{:.2f},{:.2f},{:.2f}", time_of_day(fix.time),
                       fix.horizontal_accuracy, axis, axis, axis, axis, fix.vertical_accuracy);
}

}  // namespace

std::string nmea_sentence(std::string_view fields) {
    unsigned sum = 0;
    for (const char c : fields) sum ^= static_cast<unsigned char>(c);
    return fmt::format("${}*{:02X}", fields, sum);
}

std::vector<std::string> nmea_sentences(const Fix& fix) {
    return {nmea_sentence(gga(fix)), nmea_sentence(rmc(fix)), nmea_sentence(gsa(fix)),
            nmea_sentence(gst(fix))};
}

std::string nmea_lines(const Fix& fix) {
    std::string lines;
    for (const std::string& sentence : nmea_sentences(fix)) lines += sentence + "\r\n";
    return lines;
}

}  // namespace svc::agent
