// The C library: cameras and vehicles.
#include <cstring>

#include "tests/agent/guest/svcguest_place.h"

using namespace svc;
using namespace svc::test;

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
