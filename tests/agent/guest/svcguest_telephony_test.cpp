// The C library: the instance's phone.
#include "tests/agent/guest/svcguest_place.h"

using namespace svc;
using namespace svc::test;

namespace {

std::string text_of(const svcguest_telephony& phone) {
    return std::string(phone.sim) + "|" + phone.number + "|" + phone.iccid + "|" + phone.imsi + "|" +
           phone.registration + "|" + phone.operator_name + "|" + phone.operator_code + "|" +
           std::to_string(phone.signal) + (phone.service ? "|service" : "|none");
}

const std::string state_members =
    R"("sim":"ready","number":"+1","iccid":"89","imsi":"001","registration":"home","operator":"\u00dcber \"x\"",)"
    R"("operator_code":"00101","signal":42,"service":true)";

svcguest_handlers phone_handlers() {
    svcguest_handlers handlers = all_handlers();
    handlers.telephony = [](void* user, const svcguest_telephony* phone) { add(user, text_of(*phone)); };
    handlers.phone_call = [](void* user, const svcguest_phone_call* call) {
        add(user, std::to_string(call->call) + (call->is_incoming ? " from " : " to ") + call->number + " " +
                      call->state + "/" + call->end_reason + " " + std::to_string(call->time_ms));
    };
    handlers.sms = [](void* user, const svcguest_sms* sms) {
        add(user, std::to_string(sms->sms) + " " + sms->number + ": " + sms->message + " " +
                      std::to_string(sms->time_ms));
    };
    return handlers;
}

struct Phone : Guest {
    Phone() {
        const auto handlers = phone_handlers();
        svcguest_set_handlers(connection, &handlers, sizeof(handlers), &told);
    }
    void comes(const std::string& event) { script.session->send_event(Json::parse(event)); }
};

}  // namespace

TEST_CASE("state, calls and messages reach their handlers") {
    Phone guest;
    guest.script.answers["telephony.subscribe"] = Json::parse("{" + state_members + "}");
    svcguest_telephony now{};
    REQUIRE(svcguest_telephony_subscribe(guest.connection, &now) == 0);
    const std::string all = "ready|+1|89|001|home|\u00dcber \"x\"|00101|42|service";
    CHECK(text_of(now) == all);
    guest.comes(R"({"event":"telephony.state",)" + state_members + "}");
    guest.comes(
        R"({"event":"telephony.call","call":5,"direction":"incoming","number":"*1#","state":"ringing","time":7})");
    guest.comes(R"({"event":"telephony.call","call":6,"direction":"outgoing","number":"2","state":"ended",)"
                R"("time":8,"end_reason":"remote"})");
    guest.comes(R"({"event":"telephony.sms","sms":9,"number":"3","message":"a\n\ud83d\ude00\\","time":10})");
    guest.dispatch(4);
    CHECK(guest.told ==
          Told{all, "5 from *1# ringing/ 7", "6 to 2 ended/remote 8", "9 3: a\n\U0001f600\\ 10"});
}

TEST_CASE("what is missing in a state is empty, and an event without its id is another event") {
    Phone guest;
    REQUIRE(svcguest_telephony_subscribe(guest.connection, nullptr) == 0);
    guest.comes(R"({"event":"telephony.state","signal":4000000000,"sim":5})");
    guest.comes(R"({"event":"telephony.call","number":"1","time":1})");
    guest.comes(R"({"event":"telephony.sms","sms":"x","time":1})");
    guest.dispatch(3);
    CHECK(guest.told == Told{"|||||||0|none", "other telephony.call", "other telephony.sms"});
}

TEST_CASE("requests of a phone say what they mean") {
    Phone guest;
    guest.script.answers["telephony.dial"] = Json::object({{"call", 3}});
    guest.script.answers["telephony.send_sms"] = Json::object({{"sms", 4}, {"parts", 1}});
    std::int64_t id = 0;
    REQUIRE(svcguest_telephony_dial(guest.connection, "+1\"", &id) == 0);
    CHECK(id == 3);
    CHECK_THAT(guest.script.last_request(), Catch::Contains(R"("op":"telephony.dial","number":"+1\"")"));
    REQUIRE(svcguest_telephony_send_sms(guest.connection, "1", "a\n", &id) == 0);
    CHECK(id == 4);
    CHECK_THAT(guest.script.last_request(), Catch::Contains(R"("number":"1","message":"a\n")"));
    CHECK(svcguest_telephony_answer(guest.connection, 7) == 0);
    CHECK_THAT(guest.script.last_request(), Catch::Contains(R"("op":"telephony.answer","call":7)"));
    CHECK(svcguest_telephony_hold(guest.connection, 7) == 0);
    CHECK(svcguest_telephony_hang_up(guest.connection, 7) == 0);
    CHECK(svcguest_telephony_take_sms(guest.connection, 8) == 0);
    CHECK_THAT(guest.script.last_request(), Catch::Contains(R"("op":"telephony.take_sms","sms":8)"));
    guest.script.answers.erase("telephony.dial");
    CHECK(svcguest_telephony_dial(guest.connection, "1", nullptr) == -EPROTO);
    CHECK(svcguest_telephony_unsubscribe(guest.connection) == SVCGUEST_REFUSED);  // the script has no such op
}
