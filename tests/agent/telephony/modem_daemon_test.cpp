// A program of the guest that is its phone, from its start to its end, by the C library and both sockets.
#include <csignal>

#include "libsvc/base/processes/process.h"
#include "tests/agent/control/control_table.h"
#include "tests/support/eventually.h"

using namespace svc;
using namespace svc::test;

namespace {

// A program that listens as well tells the test what happens.
struct PhoneWorld {
    PhoneWorld() : daemon(command()), listener(attach(agent)) {
        REQUIRE(eventually([&] { return agent.metadata("/1.0/telephony").at("status") == Json("active"); }));
        REQUIRE(listener->ask(R"({"id":2,"op":"telephony.subscribe"})").at("ok").as_bool());
    }
    SpawnOptions command() const {
        SpawnOptions options;
        options.arguments = {SVC_MODEM_DAEMON, agent.guest_socket().string()};
        options.ends_with_us = true;
        return options;
    }
    std::string next_call() const {
        const Json event = listener->receive_json();
        REQUIRE(event.at("event") == Json("telephony.call"));
        return std::to_string(event.at("call").as_int()) + " " + event.at("direction").as_string() + " " +
               event.at("number").as_string() + " " + event.at("state").as_string();
    }
    Json messages() const { return agent.metadata("/1.0/telephony/sms").at("messages"); }
    void post(const std::string& path, const Json& body) const {
        agent.metadata("/1.0/telephony/" + path, "POST", body.dump());
    }

    Agent agent;
    Child daemon;
    std::unique_ptr<GuestClient> listener;
};

}  // namespace

TEST_CASE("a telephony service of the guest takes a call and a message, sends one, and dials") {
    PhoneWorld world;
    world.post("calls", Json::object({{"number", "+12025550123"}}));
    CHECK(world.next_call() == "1 incoming +12025550123 ringing");
    CHECK(world.next_call() == "1 incoming +12025550123 active");
    CHECK(world.agent.done("DELETE", "/1.0/telephony/calls/1") == plain_success);
    CHECK(world.next_call() == "1 incoming +12025550123 ended");

    const std::string text = "Grüße aus \U0001f3d4 \"hier\"\n" + std::string(500, 'x');
    world.post("sms", Json::object({{"number", "+49170"}, {"message", text}}));
    CHECK(world.listener->receive_json().at("message") == Json(text));
    REQUIRE(eventually([&] { return world.messages().as_array().size() == 2; }));
    const Json both = world.messages();
    CHECK(both.as_array()[0].at("state") == Json("delivered"));
    CHECK(both.as_array()[1].at("direction") == Json("outgoing"));
    CHECK(both.as_array()[1].at("number") == Json("+49170"));
    CHECK(both.as_array()[1].at("message") == Json(text));
    CHECK(both.as_array()[1].at("parts") == Json(8));

    world.post("sms", Json::object({{"number", "*77#"}, {"message", "call me"}}));
    CHECK(world.listener->receive_json().at("message") == Json("call me"));
    CHECK(world.next_call() == "2 outgoing *77# dialing");
    CHECK(world.agent.done("PATCH", "/1.0/telephony/calls/2", R"({"state":"active"})") == plain_success);
    CHECK(world.next_call() == "2 outgoing *77# active");

    world.agent.done("PATCH", "/1.0/telephony", R"({"sim":"absent"})");
    CHECK(world.daemon.wait().code == 0);
    CHECK(world.agent.metadata("/1.0/telephony/calls/2").at("end_reason") == Json("no_service"));
}

TEST_CASE("calls of a service that is killed end, and the next one gets the messages") {
    PhoneWorld world;
    world.post("calls", Json::object({{"number", "1"}}));
    CHECK(world.next_call() == "1 incoming 1 ringing");
    CHECK(world.next_call() == "1 incoming 1 active");
    world.listener.reset();
    world.daemon.kill(SIGKILL);
    world.daemon.wait();
    REQUIRE(
        eventually([&] { return world.agent.metadata("/1.0/telephony").at("status") == Json("inactive"); }));
    CHECK(world.agent.metadata("/1.0/telephony/calls/1").at("end_reason") == Json("no_guest"));
    world.post("sms", Json::object({{"number", "1"}, {"message", "meanwhile"}}));
    Child next(world.command());
    CHECK(eventually([&] { return world.messages().as_array().size() == 2; }));
    CHECK(world.messages().as_array()[0].at("state") == Json("delivered"));
}
