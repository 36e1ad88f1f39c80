// Recorded ways: GPX, NMEA, and their replay.
#include "cli/tracks/track.h"

#include <catch2/catch.hpp>

#include "libsvc/base/error.h"

using namespace svc;
using namespace svc::cli;
using Catch::Matchers::Contains;

namespace {

std::string refusal(Track (*read)(std::string_view), std::string_view text) {
    try {
        read(text);
    } catch (const Error& e) {
        CHECK(e.code() == ErrorCode::invalid_argument);
        return e.what();
    }
    return "";
}

std::string point(std::string_view attributes, std::string_view content = "") {
    return "<gpx><trk><trkseg><trkpt " + std::string(attributes) + ">" + std::string(content) +
           "</trkpt></trkseg></trk></gpx>";
}

}  // namespace

TEST_CASE("a GPX track has places, heights, times and speeds") {
    const Track track = read_gpx(R"(<?xml version="1.0" encoding="UTF-8"?>
<gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1" xmlns:x="urn:x">
<metadata><time>2001-01-01T00:00:00Z</time></metadata>
<wpt lat="1" lon="1"><name>not on the way</name></wpt>
<trk><name>a &amp; b</name><trkseg>
<trkpt lat="48.1" lon="11.5"><ele> 545.4 </ele><time>2020-08-12T17:10:57Z</time></trkpt>
<trkpt lon="-11.6" lat="-48.2"><time>2020-08-12T17:10:59.5Z</time>
 <extensions><x:a><x:speed>3.5</x:speed><x:course>-90</x:course></x:a></extensions></trkpt>
</trkseg></trk></gpx>)");
    REQUIRE(track.points.size() == 2);
    CHECK(track.points[0].latitude == 48.1);
    CHECK(track.points[0].altitude == 545.4);
    CHECK(track.points[0].time == 1597252257000);
    CHECK(track.points[1].longitude == -11.6);
    CHECK(*track.points[1].time - *track.points[0].time == 2500);
    CHECK(track.points[1].speed == 3.5);
    CHECK(track.points[1].bearing == 270);
    CHECK_FALSE(track.points[1].altitude);
}

TEST_CASE("a GPX file without tracks gives its route, else its waypoints") {
    CHECK(read_gpx(R"(<gpx><wpt lat="1" lon="1"/><rte><rtept lat="2" lon="2"/></rte></gpx>)")
              .points.at(0)
              .latitude == 2);
    CHECK(read_gpx(R"(<gpx><wpt lat="1" lon="1"/></gpx>)").points.size() == 1);
}

TEST_CASE("GPX that is wrong is refused with its line") {
    CHECK_THAT(refusal(read_gpx, ""), Contains("line 1"));
    CHECK_THAT(refusal(read_gpx, "<gpx>\n<trk></gpx>"), Contains("line 2: mismatched tag"));
    CHECK_THAT(refusal(read_gpx, "<kml/>"), Contains("something else"));
    CHECK_THAT(refusal(read_gpx, "<gpx/>"), Contains("no point"));
    CHECK_THAT(refusal(read_gpx, point(R"(lat="1")")), Contains("no lon"));
    CHECK_THAT(refusal(read_gpx, point(R"(lat="90.1" lon="1")")), Contains("nowhere"));
    CHECK_THAT(refusal(read_gpx, point(R"(lat="nan" lon="1")")), Contains("nowhere"));
    CHECK_THAT(refusal(read_gpx, point(R"(lat="1" lon="1")", "<ele>high</ele>")), Contains("not a number"));
    CHECK_THAT(refusal(read_gpx, point(R"(lat="1" lon="1")", "<time>noon</time>")), Contains("not a time"));
    CHECK_THAT(refusal(read_gpx, R"(<!DOCTYPE gpx [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><gpx>&b;</gpx>)"),
               Contains("entities"));
}

TEST_CASE("GGA and RMC of one moment are one point") {
    const Track track = read_nmea(
        "$GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47\r\n"
        "$GPRMC,123519,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W*6A\r\n"
        "$GPGSV,1,1,00*79\r\n"
        "$GNRMC,123520.5,A,4807.038,S,01131.000,W,,,230394,,\r\n");
    REQUIRE(track.points.size() == 2);
    CHECK(track.skipped == 0);
    CHECK(track.points[0].latitude == Approx(48.1173));
    CHECK(track.points[0].altitude == 545.4);
    CHECK(*track.points[0].speed == Approx(11.5235).epsilon(1e-4));
    CHECK(track.points[0].bearing == 84.4);
    CHECK(track.points[0].time == 764426119000);
    CHECK(track.points[1].time == 764426120500);
    CHECK(track.points[1].latitude == Approx(-48.1173));
    CHECK(track.points[1].longitude == Approx(-11.516667));
    CHECK_FALSE(track.points[1].speed);
}

TEST_CASE("time goes on over midnight") {
    const Track track = read_nmea(
        "$GPGGA,235959,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,\n"
        "$GPGGA,000001,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,\n");
    REQUIRE(track.points.size() == 2);
    CHECK(*track.points[1].time - *track.points[0].time == 2000);
}

TEST_CASE("damaged sentences are counted, and a log without a place is refused") {
    const std::string good = "$GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47\n";
    for (const std::string bad :
         {"$GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*48", "$GPGGA,123519", "noise", "$",
          "$GPRMC,123519,A,4860.000,N,01131.000,E,022.4,084.4,230394,003.1,W",
          "$GPRMC,256000,A,4807.000,N,01131.000,E,022.4,084.4,230394,003.1,W",
          "$GPRMC,123519,A,9107.000,N,01131.000,E,022.4,084.4,230394,003.1,W",
          "$GPGGA,123519,4807.038,X,01131.000,E,1,08,0.9,545.4,M,46.9,M,,"}) {
        INFO(bad);
        const Track track = read_nmea(bad + "\n" + good);
        CHECK(track.points.size() == 1);
        CHECK(track.skipped == 1);
        CHECK_THAT(refusal(read_nmea, bad), Contains("no place"));
    }
    CHECK_THAT(refusal(read_nmea, "$GPRMC,123519,V,,,,,,,230394,,"), Contains("no place"));
    CHECK_THAT(refusal(read_nmea, ""), Contains("no place"));
}

TEST_CASE("the form of a file is known by its name or its beginning") {
    CHECK(read_track("A.GPX", R"(<gpx><wpt lat="1" lon="1"/></gpx>)").points.size() == 1);
    CHECK(read_track("way", R"( <gpx><wpt lat="1" lon="1"/></gpx>)").points.size() == 1);
    CHECK(read_track("log.txt", "$GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47")
              .points.size() == 1);
    CHECK_THROWS_WITH(read_track("x", "hello"), Contains("neither"));
}

TEST_CASE("a replay keeps the pauses, divided by its speed") {
    Track track;
    track.points = {{0, 0, 5000, {}, {}, {}},
                    {0, 0.001, 15000, 7.0, {}, {}},
                    {0.001, 0.001, 14000, {}, 3.0, 5.0},
                    {0.001, 0.001, {}, {}, {}, {}}};
    const auto steps = plan_replay(track, 2);
    REQUIRE(steps.size() == 4);
    CHECK(steps[0].after == Duration::zero());
    CHECK(steps[1].after == std::chrono::seconds(5));
    CHECK(steps[2].after == std::chrono::seconds(5));
    CHECK(steps[3].after == std::chrono::milliseconds(5500));
    CHECK(steps[1].update.at("speed").as_double() == Approx(11.12).epsilon(1e-3));
    CHECK(steps[1].update.at("bearing").as_double() == Approx(90));
    CHECK(steps[1].update.at("altitude").as_double() == 7);
    CHECK(steps[2].update.at("bearing").as_double() == 5);
    CHECK(steps[3].update.at("speed").as_double() == 0);
}

TEST_CASE("what no receiver can mean is brought within what the location's route takes") {
    const Track track = read_gpx(
        "<gpx><trk><trkseg>"
        "<trkpt lat='0' lon='0'><ele>1e300</ele><time>1700-01-01T00:00:00Z</time></trkpt>"
        "<trkpt lat='0' lon='180'><ele>-1e300</ele><time>1700-01-01T00:00:00.001Z</time></trkpt>"
        "<trkpt lat='0' lon='0'><speed>1e300</speed><time>2200-01-01T00:00:00Z</time></trkpt>"
        "</trkseg></trk></gpx>");
    const auto steps = plan_replay(track, 0.001);
    REQUIRE(steps.size() == 3);
    CHECK(steps[0].update.at("altitude") == Json(1e8));
    CHECK(steps[1].update.at("altitude") == Json(-1e8));
    CHECK(steps[1].update.at("speed") == Json(1e8));
    CHECK(steps[2].update.at("speed") == Json(1e8));
    CHECK(steps[2].after > steps[1].after);
}
