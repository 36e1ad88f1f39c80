#include "instance-agent/agent/devices/location/nmea.h"

#include <catch2/catch.hpp>
#include <clocale>
#include <cmath>

#include "libsvc/base/error.h"

using namespace svc;
using namespace svc::agent;
using Catch::Matchers::Contains;

namespace {

Fix munich() {
    Fix fix;
    fix.latitude = 48.1173;
    fix.longitude = 11.516667;
    fix.altitude = 545.4;
    fix.time = 1597237057123;
    fix.speed = 5;
    fix.bearing = 84.4;
    fix.horizontal_accuracy = 9.5;
    fix.vertical_accuracy = 11.5;
    return fix;
}

std::string gga_at(double latitude, double longitude) {
    Fix fix;
    fix.latitude = latitude;
    fix.longitude = longitude;
    return nmea_sentences(fix).at(0);
}

}  // namespace

// The sum of this one stands in every description of NMEA.
TEST_CASE("a sentence ends with the sum of its characters") {
    CHECK(nmea_sentence("GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,") ==
          "$GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47");
}

TEST_CASE("a fix is told in four sentences") {
    const std::vector<std::string> expected{
        "$GPGGA,125737.12,4807.03800,N,01131.00002,E,1,08,0.500,545.40,M,0.0,M,,*67",
        "$GPRMC,125737.12,A,4807.03800,N,01131.00002,E,9.719,84.40,120820,,,A*5F",
        "$GPGSA,A,3,01,02,03,04,05,06,07,08,,,,,0.707,0.500,0.500*3A",
        "$GPGST,125737.12,9.50,6.72,6.72,0.0,6.72,6.72,11.50*68"};
    CHECK(nmea_sentences(munich()) == expected);
    CHECK(nmea_lines(munich()) ==
          expected[0] + "\r\n" + expected[1] + "\r\n" + expected[2] + "\r\n" + expected[3] + "\r\n");
}

TEST_CASE("minutes never reach sixty, sides follow the sign") {
    CHECK_THAT(gga_at(47.9999999999, -11.99999999), Contains(",4800.00000,N,01200.00000,W,"));
    CHECK_THAT(gga_at(-90, 180), Contains(",9000.00000,S,18000.00000,E,"));
    CHECK_THAT(gga_at(-0.5, 0), Contains(",0030.00000,S,00000.00000,E,"));
}

TEST_CASE("degrees and minutes become degrees") {
    CHECK(degrees_of_nmea(4533.35).value() == Approx(45.5558333).epsilon(1e-9));
    CHECK(degrees_of_nmea(-1131).value() == Approx(-11.516666667).epsilon(1e-9));
    CHECK_FALSE(degrees_of_nmea(4560).has_value());
}

TEST_CASE("a static position is one line of four parts") {
    const auto fix = parse_static_position("4807.038,N,1131.001,W\n");
    REQUIRE(fix.has_value());
    CHECK(fix->latitude == Approx(48.1173));
    CHECK(fix->longitude == Approx(-11.51668333));
    for (const char* text :
         {"", "4807.038,N,1131.001", "4807.038,E,1131.001,N", "4860,N,1131,E", "9100,N,0,E", "-4807,N,1,E",
          "4807.038,N,18100,E", "4807.038,NS,1,E", "1e3,N,1,E", "nan,N,1,E", "4807,N,1,E,5", ".,N,.,E"})
        CHECK_FALSE(parse_static_position(text).has_value());
}
