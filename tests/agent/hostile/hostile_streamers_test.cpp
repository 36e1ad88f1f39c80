// Streamers that take turns, die, or do not listen, through the socket.
#include <catch2/catch.hpp>

#include "tests/agent/hostile/whole_agent.h"
#include "tests/support/eventually.h"

using namespace svc;
using namespace svc::test;

namespace {

bool stream_active(const WholeAgent& agent) {
    return agent.ask("GET", "/1.0/platform").at("metadata").at("config").at("stream_active").as_bool();
}

std::unique_ptr<GuestClient> attached(const WholeAgent& agent) {
    auto streamer = std::make_unique<GuestClient>(agent.guest_socket());
    streamer->hello();
    REQUIRE(streamer->ask(R"({"id":2,"op":"stream.attach"})").at("ok").as_bool());
    REQUIRE(streamer->ask(R"({"id":3,"op":"stream.state","active":true})").at("ok").as_bool());
    return streamer;
}

}  // namespace

TEST_CASE("a streamer that dies is not streaming any more") {
    const WholeAgent agent;
    const std::size_t before = open_descriptors();
    auto streamer = attached(agent);
    CHECK(stream_active(agent));
    streamer.reset();
    CHECK(eventually([&] { return !stream_active(agent); }));
    CHECK(agent.is_unharmed(before));
}

namespace {

bool is_on(const WholeAgent& agent, const std::string& device) {
    return agent.ask("GET", "/1.0/" + device).at("metadata").at("enabled").as_bool();
}

}  // namespace

TEST_CASE("what a streamer that dies had switched on is off again, what is an operator's stays") {
    const WholeAgent agent;
    const std::size_t before = open_descriptors();
    auto streamer = attached(agent);
    const std::string lent = R"({"enable":true,"stream":true})";
    for (const std::string device : {"location", "sensors", "camera"})
        REQUIRE(agent.outcome("POST", "/1.0/" + device, lent) == "200");
    REQUIRE(agent.outcome("POST", "/1.0/sensors", R"({"enable":true})") == "200");
    for (const std::string device : {"location", "sensors", "camera"}) CHECK(is_on(agent, device));
    streamer.reset();
    CHECK(eventually([&] { return !is_on(agent, "location") && !is_on(agent, "camera"); }));
    CHECK(is_on(agent, "sensors"));
    REQUIRE(agent.outcome("POST", "/1.0/sensors", R"({"enable":false})") == "200");
    CHECK(agent.is_unharmed(before));
}

TEST_CASE("streamer that another one takes the place of has nothing switched on any more") {
    const WholeAgent agent;
    const auto first = attached(agent);
    REQUIRE(agent.outcome("POST", "/1.0/location", R"({"enable":true,"stream":true})") == "200");
    const auto second = attached(agent);
    CHECK(eventually([&] { return !is_on(agent, "location"); }));
}

TEST_CASE("of many streamers that push each other aside one is left, and it is told of all cameras") {
    const WholeAgent agent;
    const std::size_t before = open_descriptors();
    {
        std::vector<std::unique_ptr<GuestClient>> streamers;
        for (int i = 0; i < 20; ++i) streamers.push_back(attached(agent));
        for (std::size_t i = 0; i + 1 < streamers.size(); ++i) {
            CHECK(streamers[i]->receive_json().at("event") == Json("stream.detached"));
            CHECK(streamers[i]->ask(R"({"id":4,"op":"stream.state","active":false})").at("error") ==
                  Json("not the streamer"));
        }
        CHECK(stream_active(agent));
        GuestClient guest(agent.guest_socket());
        guest.hello();
        REQUIRE(guest.ask(R"({"id":2,"op":"camera.open","camera":"0","width":640,"height":480,"fps":60})")
                    .at("ok")
                    .as_bool());
        const Json opened = streamers.back()->receive_json();
        CHECK(opened.at("event") == Json("stream.camera"));
        CHECK(opened.at("open") == Json(true));
        CHECK(opened.at("fps") == Json(60));
    }
    CHECK(eventually([&] { return !stream_active(agent); }));
    CHECK(agent.is_unharmed(before));
}

TEST_CASE("a streamer that reads nothing holds up nobody, and learns the last state") {
    const WholeAgent agent;
    const std::size_t before = open_descriptors();
    {
        const auto streamer = attached(agent);
        GuestClient guest(agent.guest_socket());
        guest.hello();
        for (int i = 0; i < 3000; ++i)
            for (const char* on : {"true", "false"})
                REQUIRE(guest
                            .ask(R"({"id":2,"op":"sensors.activate","type":"light","on":)" + std::string(on) +
                                 "}")
                            .at("ok")
                            .as_bool());
        REQUIRE(
            guest.ask(R"({"id":3,"op":"sensors.activate","type":"humidity","on":true})").at("ok").as_bool());
        Json last;
        do last = streamer->receive_json();
        while (last.at("type") != Json("humidity"));
        CHECK(last.at("active") == Json(true));
    }
    CHECK(agent.is_unharmed(before));
}
