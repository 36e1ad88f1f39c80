#include "libsvc/base/clock.h"

#include <catch2/catch.hpp>
#include <thread>

#include "libsvc/base/error.h"

using namespace std::chrono_literals;

TEST_CASE("durations are read like Go writes them") {
    CHECK(svc::parse_duration("90s") == 90s);
    CHECK(svc::parse_duration("5m") == 5min);
    CHECK(svc::parse_duration("1h30m") == 90min);
    CHECK(svc::parse_duration("250ms") == 250ms);
    CHECK(svc::parse_duration("1.5h") == 90min);
    CHECK(svc::parse_duration("0.1s") == 100ms);
    CHECK(svc::parse_duration("2us3ns") == 2003ns);
    CHECK(svc::parse_duration("0") == 0ns);
    for (const char* text :
         {"", "5", "-5s", "+5s", "s", "5 s", "5x", "1h30", "1..5s", ".s", "99999999999h", "1e3s"})
        CHECK_THROWS_AS(svc::parse_duration(text), svc::Error);
}

TEST_CASE("durations are written so that they read back") {
    CHECK(svc::format_duration(90min) == "1h30m");
    CHECK(svc::format_duration(90s) == "1m30s");
    CHECK(svc::format_duration(1500ms) == "1.5s");
    CHECK(svc::format_duration(0s) == "0s");
    for (svc::Duration value :
         {svc::Duration(1ns), svc::Duration(1001us), svc::Duration(25h + 1ms), svc::Duration(59s)})
        CHECK(svc::parse_duration(svc::format_duration(value)) == value);
}

TEST_CASE("times read back from RFC 3339 to the nanosecond") {
    const std::string text = "2024-01-02T03:04:05.678901234Z";
    CHECK(svc::to_rfc3339(svc::from_rfc3339(text)) == text);
    CHECK(svc::to_rfc3339(svc::from_unix_seconds(0)) == "1970-01-01T00:00:00.000000000Z");
    CHECK(svc::to_rfc3339(svc::from_unix_seconds(-1)) == "1969-12-31T23:59:59.000000000Z");
    CHECK(svc::to_unix_seconds(svc::from_rfc3339("2024-02-29T12:00:00+02:00")) == 1709200800);
    CHECK(svc::from_rfc3339("2024-01-02T03:04:05.5Z") - svc::from_rfc3339("2024-01-02T03:04:05Z") == 500ms);
    for (const char* bad :
         {"", "2024-01-02", "2024-13-02T03:04:05Z", "2023-02-29T03:04:05Z", "2024-01-02T24:04:05Z",
          "2024-01-02T03:04:05", "2024-01-02T03:04:05.Z", "2024-01-02T03:04:05Zx", "9999-01-01T00:00:00Z"})
        CHECK_THROWS_AS(svc::from_rfc3339(bad), svc::Error);
}

TEST_CASE("a wait ends when stop is requested") {
    svc::SystemClock clock;
    CHECK(clock.wait({}, 1ms));
    std::stop_source source;
    std::jthread stopper([&] { source.request_stop(); });
    CHECK_FALSE(clock.wait(source.get_token(), 24h));
}
