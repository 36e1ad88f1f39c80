// The C library against a real guest server with devices of the test's own.
#include "instance-agent/libsvcguest/svcguest.h"

#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include <cmath>
#include <cstddef>
#include <cstring>

#include "libsvc/base/error.h"
#include "tests/agent/guest_client.h"

using namespace svc;
using agent::GuestAnswer;
using agent::GuestFeature;
using agent::GuestSessionPtr;

namespace {

// What the handlers were told, as text.
using Told = std::vector<std::string>;

void add(void* user, const std::string& text) {
    static_cast<Told*>(user)->push_back(text);
}

std::string text_of(const svcguest_value& value) {
    std::string text = std::to_string(value.prop) + "/" + std::to_string(value.area_id) + ":";
    for (std::size_t i = 0; i < value.int32_count; ++i) text += " i" + std::to_string(value.int32_values[i]);
    for (std::size_t i = 0; i < value.int64_count; ++i) text += " l" + std::to_string(value.int64_values[i]);
    for (std::size_t i = 0; i < value.float_count; ++i)
        text += " f" + Json(static_cast<double>(value.float_values[i])).dump();
    for (std::size_t i = 0; i < value.byte_count; ++i) text += " b" + std::to_string(value.bytes[i]);
    return text + (value.string_value != nullptr ? std::string(" ") + value.string_value : "");
}

svcguest_handlers all_handlers() {
    svcguest_handlers handlers{};
    handlers.location = [](void* user, const svcguest_location* l) {
        add(user, "location " + Json(l->latitude).dump() + " " + Json(l->longitude).dump() + " " +
                      std::to_string(l->time_ms));
    };
    handlers.nmea = [](void* user, const char* const* sentences, std::size_t count) {
        add(user, "nmea " + std::to_string(count) + " " + sentences[0]);
    };
    handlers.location_enabled = [](void* user, bool on) { add(user, on ? "enabled" : "disabled"); };
    handlers.sensor = [](void* user, const svcguest_sensor* s) {
        add(user, std::string("sensor ") + s->type + " " + std::to_string(s->count) + " " +
                      Json(s->values[0]).dump());
    };
    handlers.frame = [](void* user, const svcguest_frame* f) {
        add(user, "frame " + std::to_string(f->slot) + " " + std::to_string(f->pixels[0]));
    };
    handlers.camera_closed = [](void* user, std::uint16_t handle, const char* reason) {
        add(user, "closed " + std::to_string(handle) + " " + reason);
    };
    handlers.vehicle_changed = [](void* user, const svcguest_value* value) { add(user, text_of(*value)); };
    handlers.vehicle_request = [](void* user, const svcguest_vehicle_request* request) {
        add(user, (request->is_set ? "set " : "get ") + std::to_string(request->id) + " " +
                      text_of(request->value));
    };
    handlers.other = [](void* user, const char* event, const char*) {
        add(user, std::string("other ") + event);
    };
    return handlers;
}

constexpr std::size_t slot_bytes = 64;

// Answers any op with `answer`, then sends `events`; remembers requests and releases.
struct Script {
    std::map<std::string, Json> answers;
    std::map<std::string, std::vector<Json>> events;
    std::vector<std::string> requests, releases;
    GuestSessionPtr session;
    std::mutex mutex;

    GuestAnswer run(const std::string& op, const GuestSessionPtr& from, const JsonFields& request) {
        std::lock_guard lock(mutex);
        session = from;
        requests.push_back(request.value().dump());
        for (const Json& event : events[op]) from->send_event(event);
        GuestAnswer answer{answers.count(op) > 0 ? answers.at(op) : Json::object()};
        if (op == "camera.open") answer.descriptor = make_frames();
        return answer;
    }
    static FileDescriptor make_frames() {
        FileDescriptor memory(memfd_create("frames", MFD_CLOEXEC));
        write_all(memory.get(), std::string(slot_bytes, '\1') + std::string(slot_bytes, '\2'));
        return memory;
    }
    GuestFeature feature() {
        GuestFeature feature;
        feature.name = "location";
        for (const char* op :
             {"location.subscribe", "location.get", "sensors.activate", "camera.open", "camera.close",
              "vhal.get", "vhal.set", "vhal.subscribe", "vhal.provide", "vhal.reply", "test.any"})
            feature.ops[op] = [this, op](const auto& from, const auto& request) {
                return run(op, from, request);
            };
        feature.binary = [this](const auto&, std::uint16_t stream, std::string_view payload) {
            std::lock_guard lock(mutex);
            releases.push_back(std::to_string(stream) + ":" + std::to_string(payload[0]));
        };
        return feature;
    }
    std::string last_request() {
        std::lock_guard lock(mutex);
        return requests.back();
    }
};

class Guest {
  public:
    Guest()
        : directory_(std::filesystem::temp_directory_path(), "svcguest-test-"),
          server_(agent::GuestServerOptions{directory_.path() / "guest.unix"}, {script.feature()}) {
        int error = 1;
        connection = svcguest_connect((directory_.path() / "guest.unix").c_str(), "test", &error);
        REQUIRE(connection != nullptr);
        CHECK(error == 0);
        const auto handlers = all_handlers();
        svcguest_set_handlers(connection, &handlers, sizeof(handlers), &told);
    }
    ~Guest() { svcguest_close(connection); }
    // Dispatches until so many were told in all.
    void dispatch(std::size_t count) {
        while (told.size() < count) REQUIRE(svcguest_dispatch(connection, 20'000) > 0);
    }

    Script script;
    Told told;
    svcguest* connection = nullptr;

  private:
    TemporaryDirectory directory_;
    agent::GuestServer server_;
};

Json location_event() {
    return Json::object({{"event", "location"},
                         {"latitude", 48.5},
                         {"longitude", -11.25},
                         {"altitude", 500},
                         {"time", 1597237057123LL},
                         {"speed", 1.5},
                         {"bearing", 90},
                         {"horizontal_accuracy", 20},
                         {"vertical_accuracy", 20}});
}

Json value_json() {
    return Json::object({{"area_id", 49},
                         {"bytes", JsonArray{0, 255}},
                         {"float_values", JsonArray{66.5}},
                         {"int32_values", JsonArray{-1, 2147483647}},
                         {"int64_values", JsonArray{-9007199254740993LL}},
                         {"prop", 358614275},
                         {"status", 0},
                         {"string_value", "a\"b\n\u00e9\U0001f600"},
                         {"timestamp", 5}});
}

}  // namespace

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

TEST_CASE("frames lie in shared memory and are given back") {
    Guest guest;
    guest.script.answers["camera.open"] = Json::object({{"handle", 3},
                                                        {"slots", 2},
                                                        {"slot_bytes", slot_bytes},
                                                        {"width", 4},
                                                        {"height", 4},
                                                        {"stride", 16},
                                                        {"format", "rgba"}});
    svcguest_camera camera{};
    REQUIRE(svcguest_camera_open(guest.connection, "0", 4, 4, 30, &camera) == 0);
    CHECK(camera.slots == 2);
    const auto frame = [](std::uint32_t slot, std::uint32_t width) {
        const std::uint32_t fields[8] = {1, 0, width, 4, 16, 0x41424752, 64, slot};
        return std::string(reinterpret_cast<const char*>(fields), sizeof(fields));
    };
    CHECK(guest.script.session->send_frame(3, frame(1, 4)));
    CHECK(guest.script.session->send_frame(3, frame(0, 4000)));  // a lie: given back unseen
    CHECK(guest.script.session->send_frame(3, frame(2, 4)));     // no such slot
    CHECK(guest.script.session->send_frame(3, "short"));
    guest.script.session->send_event(
        Json::object({{"event", "camera.closed"}, {"handle", 3}, {"reason", "off"}}));
    guest.dispatch(1);
    CHECK(guest.told[0] == "frame 1 2");
    CHECK(svcguest_release_frame(guest.connection, 3, 1) == 0);
    guest.dispatch(2);
    CHECK(guest.told[1] == "closed 3 off");
    CHECK(svcguest_camera_close(guest.connection, 3) == -EBADF);
    svcguest_call(guest.connection, "test.any", nullptr, nullptr);
    CHECK(guest.script.releases.size() == 2);
}

TEST_CASE("a camera whose memory is too small is not opened") {
    Guest guest;
    guest.script.answers["camera.open"] = Json::object({{"handle", 3},
                                                        {"slots", 3},
                                                        {"slot_bytes", slot_bytes},
                                                        {"width", 4},
                                                        {"height", 4},
                                                        {"stride", 16}});
    svcguest_camera camera{};
    CHECK(svcguest_camera_open(guest.connection, "0", 4, 4, 30, &camera) == -EPROTO);
    CHECK_THAT(guest.script.last_request(), Catch::Contains("camera.close"));
}

TEST_CASE("vehicle values go both ways unchanged") {
    Guest guest;
    guest.script.answers["vhal.get"] = Json::object({{"value", value_json()}});
    svcguest_value value{};
    REQUIRE(svcguest_vehicle_get(guest.connection, 358614275, 49, nullptr, &value) == 0);
    CHECK(text_of(value) ==
          "358614275/49: i-1 i2147483647 l-9007199254740993 f66.5 b0 b255 a\"b\n\u00e9\U0001f600");
    CHECK(value.timestamp_ns == 5);
    REQUIRE(svcguest_vehicle_set(guest.connection, &value) == 0);
    Json sent = Json::parse(guest.script.last_request());
    const Json expected = value_json();
    for (const char* field :
         {"prop", "area_id", "bytes", "float_values", "int32_values", "int64_values", "string_value"})
        CHECK(sent.at(field) == expected.at(field));
}

TEST_CASE("a provider gets requests and replies to them") {
    Guest guest;
    Json request = value_json();
    request.set("event", "vhal.request");
    request.set("id", 77);
    request.set("op", "set");
    guest.script.events["vhal.provide"] = {
        request,
        Json::object({{"event", "vhal.request"}, {"id", 78}, {"op", "get"}, {"prop", 5}, {"area_id", 0}}),
        Json::object({{"event", "vhal.changed"},
                      {"value", Json::object({{"prop", 6}, {"int32_values", JsonArray{1}}})}})};
    CHECK(svcguest_vehicle_provide(guest.connection, "[]") == 0);
    guest.dispatch(3);
    CHECK(guest.told[0].starts_with("set 77 358614275/49:"));
    CHECK(guest.told[1] == "get 78 5/0: ");
    CHECK(guest.told[2] == "6/0: i1 ");
    const std::int32_t numbers[] = {42};
    svcguest_value value{};
    value.prop = 5;
    value.int32_values = numbers;
    value.int32_count = 1;
    CHECK(svcguest_vehicle_reply(guest.connection, 78, 0, &value) == 0);
    svcguest_call(guest.connection, "test.any", nullptr, nullptr);
    CHECK_THAT(
        guest.script.requests[1],
        Catch::Contains(
            R"("reply_to":78,"status":0,"value":{"status":0,"prop":5,"area_id":0,"int32_values":[42]})"));
}

TEST_CASE("subscriptions name areas and rate") {
    Guest guest;
    const std::int32_t areas[] = {1, 4};
    CHECK(svcguest_vehicle_subscribe(guest.connection, 7, areas, 2, 2.5F) == 0);
    CHECK_THAT(guest.script.last_request(),
               Catch::Contains(R"("props":[{"prop":7,"area_ids":[1,4],"sample_rate":2.5}])"));
}

TEST_CASE("a program notices that the agent has gone") {
    auto server = std::make_unique<test::TestGuests>();
    svcguest* connection = svcguest_connect(server->socket().c_str(), "test", nullptr);
    REQUIRE(connection != nullptr);
    server.reset();
    CHECK(svcguest_dispatch(connection, 20'000) == -ECONNRESET);
    CHECK(svcguest_call(connection, "test.echo", nullptr, nullptr) == -EPIPE);
    svcguest_close(connection);
}

TEST_CASE("a call that is not answered ends at its limit") {
    test::TestGuests guests;
    svcguest* connection = svcguest_connect(guests.socket().c_str(), "test", nullptr);
    REQUIRE(connection != nullptr);
    svcguest_set_timeout(connection, 20);
    CHECK(svcguest_call(connection, "test.later", nullptr, nullptr) == -ETIMEDOUT);
    svcguest_set_timeout(connection, 20'000);
    guests.device.late();
    CHECK(svcguest_call(connection, "test.echo", "\"text\":\"x\"", nullptr) == 0);
    svcguest_close(connection);
}

TEST_CASE("a program knows when its connection has ended") {
    auto server = std::make_unique<test::TestGuests>();
    svcguest* connection = svcguest_connect(server->socket().c_str(), "test", nullptr);
    REQUIRE(connection != nullptr);
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

TEST_CASE("a camera that is opened when another one is closed stays") {
    Guest guest;
    const auto opens = [&](int handle) {
        guest.script.answers["camera.open"] = Json::object({{"handle", handle},
                                                            {"slots", 2},
                                                            {"slot_bytes", slot_bytes},
                                                            {"width", 4},
                                                            {"height", 4},
                                                            {"stride", 16}});
    };
    opens(3);
    svcguest_camera camera{};
    REQUIRE(svcguest_camera_open(guest.connection, "0", 4, 4, 30, &camera) == 0);
    svcguest_handlers handlers{};
    handlers.camera_closed = [](void* user, std::uint16_t handle, const char*) {
        auto* connection = static_cast<svcguest*>(user);
        svcguest_camera again{};
        svcguest_camera_close(connection, handle);
        svcguest_camera_open(connection, "0", 4, 4, 30, &again);
    };
    svcguest_set_handlers(guest.connection, &handlers, sizeof(handlers), guest.connection);
    opens(4);
    guest.script.session->send_event(
        Json::object({{"event", "camera.closed"}, {"handle", 3}, {"reason", "off"}}));
    CHECK(svcguest_dispatch(guest.connection, 20'000) == 1);
    CHECK(svcguest_camera_close(guest.connection, 4) == 0);
}
