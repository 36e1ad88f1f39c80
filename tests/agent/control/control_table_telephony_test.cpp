// The control API's table: telephony. What is put in is seen by a program of the guest, and what the guest
// does from outside.
#include "tests/agent/control/control_table.h"

using namespace svc;
using namespace svc::test;

namespace {

const std::string caller_number = R"({"number":"+12025550123"})";

std::unique_ptr<GuestClient> attach_phone(const Agent& agent) {
    auto phone = attach(agent);
    REQUIRE(phone->ask(R"({"id":2,"op":"telephony.subscribe"})").at("ok").as_bool());
    return phone;
}

Json last_message(const Agent& agent) {
    return agent.metadata("/1.0/telephony/sms").at("messages").as_array().back();
}

}  // namespace

TEST_CASE("table: SIM and network are set, seen by the guest, and kept") {
    Agent agent;
    const Json first = agent.metadata("/1.0/telephony");
    CHECK(first ==
          Json::parse(R"({"status":"inactive","service":true,"sim":"ready","number":"+12025550100",)"
                      R"("iccid":"8900101001234567898","imsi":"001010123456789","registration":"home",)"
                      R"("operator":"Test","operator_code":"00101","signal":100})"));
    {
        const auto phone = attach_phone(agent);
        CHECK(agent.metadata("/1.0/telephony").at("status") == Json("active"));
        CHECK(agent.done("PATCH", "/1.0/telephony", R"({"registration":"searching","signal":40})") ==
              plain_success);
        const Json event = phone->receive_json();
        CHECK(event.at("event") == Json("telephony.state"));
        CHECK(event.at("registration") == Json("searching"));
        CHECK(event.at("signal") == Json(0));
        CHECK(agent.error("PATCH", "/1.0/telephony", R"({"signal":50,"sim":"lost"})") ==
              "400 Invalid value for field 'sim'");
    }
    agent.restart();
    const Json kept = agent.metadata("/1.0/telephony");
    CHECK(kept.at("status") == Json("inactive"));
    CHECK(kept.at("registration") == Json("searching"));
    CHECK(kept.at("signal") == Json(40));
    CHECK(kept.at("service") == Json(false));
}

TEST_CASE("table: a message reaches the guest, and one of the guest is read") {
    const Agent agent;
    CHECK(agent.metadata("/1.0/telephony/sms") == Json::parse(R"({"messages":[],"dropped":0})"));
    CHECK(agent.metadata("/1.0/telephony/sms", "POST", R"({"number":"123","message":"Grüße \u20ac"})") ==
          Json::parse(R"({"id":1})"));
    CHECK(last_message(agent).at("state") == Json("waiting"));
    const auto phone = attach_phone(agent);
    const Json event = phone->receive_json();
    CHECK(event.at("event") == Json("telephony.sms"));
    CHECK(event.at("message") == Json("Grüße €"));
    CHECK(phone->ask(R"({"id":3,"op":"telephony.take_sms","sms":1})").at("ok").as_bool());
    CHECK(last_message(agent).at("state") == Json("delivered"));
    const Json sent = phone->ask(R"({"id":4,"op":"telephony.send_sms","number":"+49123","message":"Ω\n"})");
    CHECK(sent.at("sms") == Json(2));
    CHECK(sent.at("parts") == Json(1));
    Json message = last_message(agent);
    CHECK(message.at("time").as_int() > 1'600'000'000'000);
    message.erase("time");
    CHECK(message == Json::parse(R"({"id":2,"direction":"outgoing","number":"+49123","message":"Ω\n",)"
                                 R"("parts":1,"state":"sent"})"));
    CHECK(agent.done("DELETE", "/1.0/telephony/sms") == plain_success);
    CHECK(agent.metadata("/1.0/telephony/sms") == Json::parse(R"({"messages":[],"dropped":0})"));
    CHECK(agent.error("POST", "/1.0/telephony/sms",
                      R"({"number":"123","message":")" + std::string(1531, 'x') + "\"}") ==
          "400 Message does not fit into 10 parts");
}

TEST_CASE("table: a call rings, the guest answers, and it is hung up from outside") {
    const Agent agent;
    CHECK(agent.error("POST", "/1.0/telephony/calls", caller_number) == "400 Telephony is not active");
    const auto phone = attach_phone(agent);
    CHECK(agent.metadata("/1.0/telephony/calls", "POST", caller_number) == Json::parse(R"({"id":1})"));
    const Json rings = phone->receive_json();
    CHECK(rings.at("state") == Json("ringing"));
    CHECK(rings.at("number") == Json("+12025550123"));
    CHECK(phone->ask(R"({"id":3,"op":"telephony.answer","call":1})").at("ok").as_bool());
    CHECK(phone->receive_json().at("state") == Json("active"));
    CHECK(agent.metadata("/1.0/telephony/calls/1").at("state") == Json("active"));
    CHECK(agent.done("DELETE", "/1.0/telephony/calls/1") == plain_success);
    const Json ended = phone->receive_json();
    CHECK(ended.at("end_reason") == Json("remote"));
    const Json calls = agent.metadata("/1.0/telephony/calls").at("calls");
    REQUIRE(calls.as_array().size() == 1);
    CHECK(calls.as_array()[0].at("id") == Json(1));
    CHECK(calls.as_array()[0].at("end_reason") == Json("remote"));
    CHECK(agent.error("DELETE", "/1.0/telephony/calls/1") == "400 Call 1 is ended and cannot become ended");
}

TEST_CASE("table: a call of the guest is accepted or rejected from outside") {
    const Agent agent;
    const auto phone = attach_phone(agent);
    for (const int id : {1, 2}) {
        const Json dialled = phone->ask(R"({"id":3,"op":"telephony.dial","number":"*100#"})");
        CHECK(dialled.at("call") == Json(id));
        CHECK(phone->receive_json().at("state") == Json("dialing"));
    }
    CHECK(agent.done("PATCH", "/1.0/telephony/calls/1", R"({"state":"alerting"})") == plain_success);
    CHECK(phone->receive_json().at("state") == Json("alerting"));
    CHECK(agent.done("PATCH", "/1.0/telephony/calls/1", R"({"state":"active"})") == plain_success);
    CHECK(phone->receive_json().at("state") == Json("active"));
    CHECK(agent.done("DELETE", "/1.0/telephony/calls/2") == plain_success);
    CHECK(phone->receive_json().at("end_reason") == Json("remote"));
    CHECK(phone->ask(R"({"id":4,"op":"telephony.hang_up","call":1})").at("ok").as_bool());
    CHECK(agent.metadata("/1.0/telephony/calls/1").at("end_reason") == Json("guest"));
}

TEST_CASE("table: all messages at once are an answer the guest interface can give") {
    const Agent agent;
    const std::string long_text(670, '\x01');  // the longest in JSON: of UTF-16, each unit escaped
    for (int i = 0; i < 100; ++i)
        agent.done("POST", "/1.0/telephony/sms",
                   Json::object({{"number", "1"}, {"message", long_text}}).dump());
    const auto phone = attach_phone(agent);
    for (int i = 1; i <= 100; ++i) CHECK(phone->receive_json().at("sms") == Json(i));
    CHECK(agent.metadata("/1.0/telephony/sms").at("messages").as_array().size() == 100);
}
