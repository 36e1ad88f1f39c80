// The rules between SIM, network, calls, messages and the programs that listen.
#include "instance-agent/agent/devices/telephony/telephony_device.h"

#include "tests/agent/devices/device_place.h"

using namespace svc;
using namespace svc::test;

namespace {

const std::string telephony_path = "/1.0/telephony";
const std::string from_a = R"({"number":"+12025550123"})";

struct TelephonyWorld : DevicePlace {
    std::string outcome(Method method, const std::string& path, const std::string& body = "") const {
        return caller.outcome(method, telephony_path + path, body);
    }
    std::string set(const std::string& body) const { return outcome(Method::patch, "", body); }
    void send(const std::string& text) const {
        REQUIRE(outcome(Method::post, "/sms", R"({"number":"123","message":")" + text + "\"}") == "200");
    }
    Json call(int id) const { return caller.metadata(telephony_path + "/calls/" + std::to_string(id)); }
    Json listen(const std::shared_ptr<ListeningGuest>& guest) const {
        return caller.op(guest, "telephony.subscribe");
    }
    Json op(const std::string& name, const std::string& members) const {
        return caller.op(first, "telephony." + name, members);
    }
    std::string counted(const std::string& line) const {
        return metrics.render().find("\n" + line + "\n") != std::string::npos ? "there" : metrics.render();
    }

    agent::TelephonyDevice device{context()};
    DeviceCaller caller{device};
    std::shared_ptr<ListeningGuest> first = std::make_shared<ListeningGuest>(1);
    std::shared_ptr<ListeningGuest> second = std::make_shared<ListeningGuest>(2);
    std::shared_ptr<ListeningGuest> stranger = std::make_shared<ListeningGuest>(3, false);
};

}  // namespace

TEST_CASE("telephony is active while a program of the guest listens") {
    TelephonyWorld world;
    const auto status = [&] { return world.caller.metadata(telephony_path).at("status"); };
    CHECK(status() == Json("inactive"));
    world.listen(world.first);
    world.listen(world.second);
    CHECK(status() == Json("active"));
    world.caller.leave(world.first);
    CHECK(status() == Json("active"));
    world.caller.op(world.second, "telephony.unsubscribe");
    CHECK(status() == Json("inactive"));
    world.caller.leave(world.second);
    CHECK(status() == Json("inactive"));
}

TEST_CASE("no call begins while nobody listens, and the last one who goes ends those there are") {
    TelephonyWorld world;
    CHECK(world.outcome(Method::post, "/calls", from_a) == "400 Telephony is not active");
    CHECK(world.op("dial", from_a) == Json("Telephony is not active"));
    world.listen(world.first);
    world.listen(world.second);
    CHECK(world.outcome(Method::post, "/calls", from_a) == "200");
    CHECK(world.op("dial", from_a) == Json::parse(R"({"call":2})"));
    world.caller.leave(world.first);
    CHECK(world.call(1).at("state") == Json("ringing"));
    world.caller.leave(world.second);
    CHECK(world.call(1).at("end_reason") == Json("no_guest"));
    CHECK(world.call(2).at("end_reason") == Json("no_guest"));
}

TEST_CASE("all who listen are told of each change of a call, whoever makes it") {
    TelephonyWorld world;
    world.listen(world.first);
    world.listen(world.second);
    REQUIRE(world.outcome(Method::post, "/calls", from_a) == "200");
    world.op("answer", R"({"call":1})");
    REQUIRE(world.outcome(Method::patch, "/calls/1", R"({"state":"held"})") == "200");
    world.op("dial", R"({"number":"*#06#"})");
    REQUIRE(world.outcome(Method::patch, "/calls/2", R"({"state":"alerting"})") == "200");
    REQUIRE(world.outcome(Method::patch, "/calls/2", R"({"state":"active"})") == "200");
    world.op("answer", R"({"call":1})");  // the other one is held first
    world.op("hang_up", R"({"call":1})");
    REQUIRE(world.outcome(Method::delete_, "/calls/2") == "200");
    const std::vector<std::string> told{"1 ringing", "1 active", "1 held",   "2 dialing", "2 alerting",
                                        "2 active",  "2 held",   "1 active", "1 ended",   "2 ended"};
    for (const auto& guest : {world.first, world.second}) {
        REQUIRE(guest->messages() == told.size());
        for (std::size_t i = 0; i < told.size(); ++i) {
            const Json event = guest->message(i);
            CHECK(event.at("event") == Json("telephony.call"));
            CHECK(std::to_string(event.at("call").as_int()) + " " + event.at("state").as_string() == told[i]);
        }
        CHECK(guest->message(8).at("end_reason") == Json("guest"));
        CHECK(guest->message(9).at("end_reason") == Json("remote"));
    }
}

TEST_CASE("a guest does not accept its own call, nor holds one that rings") {
    TelephonyWorld world;
    world.listen(world.first);
    world.op("dial", from_a);
    CHECK(world.op("answer", R"({"call":1})") == Json("Call 1 is dialing and cannot become active"));
    CHECK(world.op("hold", R"({"call":1})") == Json("Call 1 is dialing and cannot become held"));
    CHECK(world.op("hang_up", R"({"call":2})") == Json("Call 2 does not exist"));
    world.op("hang_up", R"({"call":1})");
    CHECK(world.op("hang_up", R"({"call":1})") == Json("Call 1 is ended and cannot become ended"));
    CHECK(world.outcome(Method::patch, "/calls/1", R"({"state":"active"})") ==
          "400 Call 1 is ended and cannot become active");
    CHECK(world.outcome(Method::patch, "/calls/1", R"({"state":"ended"})") ==
          "400 Invalid value for field 'state'");
    CHECK(world.outcome(Method::get, "/calls/9") == "400 Call 9 does not exist");
    CHECK(world.outcome(Method::get, "/calls/1x") == "400 Invalid call id '1x'");
    CHECK(world.outcome(Method::delete_, "/calls/99999999999999999999") ==
          "400 Invalid call id '99999999999999999999'");
}

TEST_CASE("who takes the SIM out ends the calls, and nothing is sent until it is back") {
    TelephonyWorld world;
    world.listen(world.first);
    REQUIRE(world.outcome(Method::post, "/calls", from_a) == "200");
    REQUIRE(world.set(R"({"sim":"absent"})") == "200");
    CHECK(world.first->message(1).at("sim") == Json("absent"));
    CHECK(world.first->message(2).at("end_reason") == Json("no_service"));
    CHECK(world.outcome(Method::post, "/calls", from_a) == "400 No service: the SIM is absent");
    CHECK(world.op("dial", from_a) == Json("No service: the SIM is absent"));
    CHECK(world.op("send_sms", R"({"number":"1","message":"x"})") == Json("No service: the SIM is absent"));
    world.send("while it was away");
    CHECK(world.first->messages() == 3);
    REQUIRE(world.set(R"({"sim":"ready","registration":"denied"})") == "200");
    CHECK(world.first->messages() == 4);
    REQUIRE(world.set(R"({"registration":"roaming"})") == "200");
    CHECK(world.first->message(4).at("service") == Json(true));
    CHECK(world.first->message(5).at("message") == Json("while it was away"));
    REQUIRE(world.set(R"({"signal":10})") == "200");
    CHECK(world.first->messages() == 7);  // messages are told anew only when there is service again
}

TEST_CASE("a message waits for a program, and then until it is taken") {
    TelephonyWorld world;
    world.send("one");
    world.send("two");
    const auto state = [&](std::size_t at) {
        return world.caller.metadata(telephony_path + "/sms").at("messages").as_array().at(at).at("state");
    };
    world.listen(world.first);
    CHECK(world.first->message(0).at("sms") == Json(1));
    CHECK(world.first->message(1).at("message") == Json("two"));
    CHECK(world.op("take_sms", R"({"sms":1})") == Json::object());
    CHECK(state(0) == Json("delivered"));
    CHECK(state(1) == Json("waiting"));
    CHECK(world.op("take_sms", R"({"sms":1})") == Json("SMS 1 does not wait"));
    world.listen(world.second);
    CHECK(world.second->messages() == 1);
    CHECK(world.second->message(0).at("sms") == Json(2));
}

TEST_CASE("a program without control sees what a phone shows to everybody, and does nothing") {
    TelephonyWorld world;
    const Json seen = world.caller.op(world.stranger, "telephony.get");
    CHECK(seen ==
          Json::parse(R"({"sim":"ready","registration":"home","operator":"Test","operator_code":"00101",)"
                      R"("signal":100,"service":true})"));
    world.listen(world.first);
    world.send("secret");
    for (const char* op : {"subscribe", "dial", "answer", "hold", "hang_up", "send_sms", "take_sms"})
        CHECK(world.caller.op(world.stranger, "telephony." + std::string(op),
                              R"({"number":"1","message":"x","call":1,"sms":1})") ==
              Json("permission denied"));
    CHECK(world.stranger->messages() == 0);
    const Json all = world.caller.op(world.second, "telephony.get");
    CHECK(all.at("imsi") == Json("001010123456789"));
    CHECK(all.at("calls") == Json::array());
}

TEST_CASE("calls and messages are counted by direction, also those that are dropped") {
    TelephonyWorld world;
    world.listen(world.first);
    REQUIRE(world.outcome(Method::post, "/calls", from_a) == "200");
    for (int i = 0; i < 103; ++i) world.op("send_sms", R"({"number":"1","message":"x"})");
    world.send("x");
    CHECK(world.counted("runtime_telephony_calls_total{direction=\"incoming\"} 1") == "there");
    CHECK(world.counted("runtime_telephony_sms_total{direction=\"outgoing\"} 103") == "there");
    CHECK(world.counted("runtime_telephony_sms_dropped_total{direction=\"outgoing\"} 3") == "there");
    CHECK(world.counted("runtime_telephony_sms_dropped_total{direction=\"incoming\"} 0") == "there");
    CHECK(world.caller.metadata(telephony_path + "/sms").at("dropped") == Json(3));
}

TEST_CASE("fields that cannot be stored are not set, and nobody is told") {
    TelephonyWorld world;
    world.listen(world.first);
    make_directories(world.context().state() / "telephony.json");  // a folder in the place of the file
    CHECK(world.set(R"({"signal":1})").substr(0, 4) == "500 ");
    CHECK(world.caller.metadata(telephony_path).at("signal") == Json(100));
    CHECK(world.first->messages() == 0);
}
