// The C library: connections, places, sensors.
#include "instance-agent/libsvcguest/svcguest.h"

#include <poll.h>

#include <cmath>
#include <cstddef>
#include <cstring>

#include "tests/agent/guest/svcguest_place.h"
#include "tests/support/eventually.h"

using namespace svc;
using namespace svc::test;

TEST_CASE("a program that cannot connect is told why") {
    int error = 0;
    CHECK(svcguest_connect("/nonexistent/guest.unix", "test", &error) == nullptr);
    CHECK(error == -ENOENT);
    CHECK(svcguest_connect(std::string(500, 'x').c_str(), "test", &error) == nullptr);
    CHECK(error == -ENAMETOOLONG);
    svcguest_close(nullptr);
}

TEST_CASE("features are known after connecting") {
    Guest guest;
    CHECK(svcguest_has_feature(guest.connection, "location"));
    CHECK_FALSE(svcguest_has_feature(guest.connection, "loc"));
}

TEST_CASE("locations reach their handlers in either form") {
    Guest guest;
    guest.script.events["location.subscribe"] = {
        location_event(),
        Json::object({{"event", "location"}, {"sentences", JsonArray{"$GPGGA,1*00\r\n", "$GPRMC"}}}),
        Json::object({{"event", "location.enabled"}, {"enabled", false}})};
    CHECK(svcguest_location_subscribe(guest.connection, 500, false) == 0);
    CHECK_THAT(guest.script.last_request(), Catch::Contains(R"("interval_ms":500,"format":"json")"));
    guest.dispatch(3);
    CHECK(guest.told == Told{"location 48.5 -11.25 1597237057123", "nmea 2 $GPGGA,1*00\r\n", "disabled"});
}

TEST_CASE("a location is had by asking") {
    Guest guest;
    guest.script.answers["location.get"] = location_event();
    guest.script.answers["location.get"].erase("event");
    svcguest_location location{};
    REQUIRE(svcguest_location_get(guest.connection, &location) == 0);
    CHECK(location.latitude == 48.5);
    guest.script.answers["location.get"] = Json::object({{"latitude", "x"}});
    CHECK(svcguest_location_get(guest.connection, &location) == -EPROTO);
}

TEST_CASE("refusals have their text") {
    Guest guest;
    CHECK(svcguest_call(guest.connection, "nope", nullptr, nullptr) == SVCGUEST_REFUSED);
    CHECK(std::string(svcguest_error(guest.connection)) == "unknown operation");
    CHECK(svcguest_call(guest.connection, "test.any", "\"x\":1", nullptr) == 0);
    CHECK(std::string(svcguest_error(guest.connection)).empty());
    CHECK_THAT(guest.script.last_request(), Catch::Contains(R"("x":1)"));
}

TEST_CASE("events that come during calls are readable by the descriptor") {
    Guest guest;
    guest.script.events["test.any"] = {Json::object({{"event", "news"}})};
    svcguest_call(guest.connection, "test.any", nullptr, nullptr);
    svcguest_call(guest.connection, "test.any", nullptr, nullptr);
    pollfd wait{svcguest_fd(guest.connection), POLLIN, 0};
    CHECK(poll(&wait, 1, 20'000) == 1);
    guest.dispatch(2);
    CHECK(guest.told == Told{"other news", "other news"});
    CHECK(poll(&wait, 1, 0) == 0);
    CHECK(svcguest_dispatch(guest.connection, 0) == 0);
}

TEST_CASE("sensor values have one or three numbers") {
    Guest guest;
    guest.script.events["sensors.activate"] = {
        Json::object({{"event", "sensor"}, {"type", "light"}, {"timestamp", 7}, {"values", JsonArray{1.5}}}),
        Json::object({{"event", "sensor"},
                      {"type", "gyroscope"},
                      {"timestamp", 7},
                      {"values", JsonArray{-1e-3, 2, 3}}})};
    CHECK(svcguest_sensor_activate(guest.connection, "light", true, 66) == 0);
    guest.dispatch(2);
    CHECK(guest.told == Told{"sensor light 1 1.5", "sensor gyroscope 3 -0.001"});
}

TEST_CASE("a program notices that the agent has gone") {
    auto server = std::make_unique<test::TestGuests>();
    svcguest* connection = connect_patiently(server->socket());
    server.reset();
    CHECK(svcguest_dispatch(connection, 20'000) == -ECONNRESET);
    CHECK(svcguest_call(connection, "test.echo", nullptr, nullptr) == -EPIPE);
    svcguest_close(connection);
}

TEST_CASE("a call that is not answered ends at its limit") {
    test::TestGuests guests;
    svcguest* connection = connect_patiently(guests.socket());
    svcguest_set_timeout(connection, 20);
    CHECK(svcguest_call(connection, "test.later", nullptr, nullptr) == -ETIMEDOUT);
    svcguest_set_timeout(connection, 20'000);
    REQUIRE(eventually([&] { return guests.device.kept() != nullptr; }));  // the server may be slower still
    guests.device.late();
    CHECK(svcguest_call(connection, "test.echo", "\"text\":\"x\"", nullptr) == 0);
    svcguest_close(connection);
}

TEST_CASE("a program knows when its connection has ended") {
    auto server = std::make_unique<test::TestGuests>();
    svcguest* connection = connect_patiently(server->socket());
    CHECK(svcguest_is_alive(connection));
    CHECK(svcguest_call(connection, "nope", nullptr, nullptr) == SVCGUEST_REFUSED);
    CHECK(svcguest_is_alive(connection));
    server.reset();
    CHECK(svcguest_dispatch(connection, 20'000) < 0);
    CHECK_FALSE(svcguest_is_alive(connection));
    svcguest_close(connection);
}

TEST_CASE("a program of an older header has only the handlers it knows") {
    Guest guest;
    const auto handlers = all_handlers();
    svcguest_set_handlers(guest.connection, &handlers, offsetof(svcguest_handlers, other), &guest.told);
    guest.script.events["test.any"] = {Json::object({{"event", "news"}}),
                                       Json::object({{"event", "location.enabled"}, {"enabled", true}})};
    svcguest_call(guest.connection, "test.any", nullptr, nullptr);
    guest.dispatch(1);
    CHECK(guest.told == Told{"enabled"});
}

TEST_CASE("numbers that JSON does not know are refused before anything is sent") {
    Guest guest;
    svcguest_call(guest.connection, "test.any", nullptr, nullptr);
    const float number = NAN;
    svcguest_value value{};
    value.prop = 5;
    value.float_values = &number;
    value.float_count = 1;
    CHECK(svcguest_vehicle_set(guest.connection, &value) == -EINVAL);
    CHECK(svcguest_vehicle_reply(guest.connection, 1, 0, &value) == -EINVAL);
    CHECK(svcguest_is_alive(guest.connection));
    CHECK(guest.script.requests.size() == 1);
}
