// Every field of every body of the control API and of every op: missing, of another type, out of range.
#include <catch2/catch.hpp>

#include <algorithm>

#include "tests/agent/hostile/whole_agent.h"
#include "tests/support/eventually.h"

using namespace svc;
using namespace svc::test;

namespace {

using Texts = std::vector<std::string>;  // of JSON

Texts operator+(Texts all, const Texts& more) {
    all.insert(all.end(), more.begin(), more.end());
    return all;
}

const Texts not_a_number{R"("x")", R"("1")", "true", "[]", "{}", "[1]"};
const Texts not_an_integer = not_a_number + Texts{"1.5", "1e300", "18446744073709551616"};
const Texts not_a_flag{R"("true")", "1", "0", "[]", "{}", R"("")"};
const Texts not_a_text{"1", "true", "[]", "{}", R"(["x"])"};
const Texts no_such_name =
    not_a_text + Texts{R"("")", R"("nope")", R"("\u0000\n\u007f")", "\"" + std::string(100'000, 'x') + "\""};
const Texts not_a_phone_number{R"("+")",      R"("1+")",      R"(" 1")",
                               R"("\u0661")", R"("1\u0000")", "\"" + std::string(33, '1') + "\""};
const Texts not_a_message = not_a_text + Texts{R"("")", R"("a\u0000b")", "\"" + std::string(1531, 'x') + "\"",
                                               "\"" + std::string(100'000, 'x') + "\""};
const Texts not_an_id =
    not_an_integer + Texts{"4294967296", "-2147483649", "9223372036854775808", "18446744073709551615"};
const Texts not_numbers{"1", R"("x")", "true", "{}", R"(["x"])", "[null]", "[[]]", "[true]"};
const Texts not_int32s = not_numbers + Texts{"[2147483648]", "[-2147483649]", "[1.5]", "[1e300]"};
const Texts not_int64s = not_numbers + Texts{"[9223372036854775808]", "[1.5]"};

const Texts not_a_call = not_an_integer + Texts{"0", "-1", "2", "9223372036854775807"};

struct Field {
    std::string name;
    bool is_required = true;
    Texts wrong;
};

struct Body {
    std::string method, path, good;  // `good`: an object
    std::vector<Field> fields;
    bool in_list = false;  // the object is what a list holds
    std::string whole(const Json& object) const {
        return in_list ? "[" + object.dump() + "]" : object.dump();
    }
};

const std::vector<Field> switch_fields{{"enable", true, not_a_flag}};

const std::vector<Body> bodies{
    {"PATCH", "/1.0", R"({"log_level":"error"})", {{"log_level", true, no_such_name}}},
    {"POST", "/1.0/location", R"({"enable":true})", switch_fields},
    {"POST", "/1.0/camera", R"({"enable":true})", switch_fields},
    {"POST", "/1.0/sensors", R"({"enable":true})", switch_fields},
    {"PATCH",
     "/1.0/location",
     R"({"latitude":1,"longitude":2,"altitude":3,"time":4,"speed":5,"bearing":6,"format":"wgs84",)"
     R"("horizontal_accuracy":7,"vertical_accuracy":8})",
     {{"latitude", true, not_a_number + Texts{"90.01", "-90.01", "1e300"}},
      {"longitude", true, not_a_number + Texts{"180.01", "-180.01", "1e300"}},
      {"altitude", true, not_a_number + Texts{"1e9", "-1e9"}},
      {"time", true, not_a_number + Texts{"-1", "253402300800000", "1e300"}},
      {"speed", true, not_a_number + Texts{"-0.1", "1e9"}},
      {"bearing", true, not_a_number + Texts{"-0.1", "360.1"}},
      {"format", false, no_such_name + Texts{R"("WGS84")"}},
      {"horizontal_accuracy", false, not_a_number + Texts{"0", "-1", "1e9"}},
      {"vertical_accuracy", false, not_a_number + Texts{"0", "-1", "1e9"}}}},
    {"PATCH",
     "/1.0/location",
     R"({"latitude":4533.35,"longitude":-1131.1,"altitude":3,"time":4,"speed":5,"bearing":6,"format":"nmea"})",
     {{"latitude", true, not_a_number + Texts{"9000.1", "4560", "-4599.9", "1e300"}},
      {"longitude", true, not_a_number + Texts{"18000.1", "-11360", "1e300"}}}},
    {"PATCH",
     "/1.0/sensors",
     R"({"type":"acceleration","x":1,"y":2,"z":3})",
     {{"type", true, no_such_name + Texts{R"("humidity")"}},
      {"x", true, not_a_number + Texts{"1e39", "-1e39"}},
      {"y", true, not_a_number + Texts{"1e39"}},
      {"z", true, not_a_number + Texts{"1e39"}}},
     true},
    {"PATCH",
     "/1.0/sensors",
     R"({"type":"light","value":1})",
     {{"value", true, not_a_number + Texts{"1e39"}}},
     true},
    {"PATCH",
     "/1.0/platform",
     R"({"config":{"rtc_log":true}})",
     {{"config",
       true,
       {"1", R"("x")", "[]", "true", "{}", R"({"nope":1})", R"({"rtc_log":1})", R"({"rtc_log":null})",
        R"({"stream_active":true})", R"({"stream_video_bitrate_min_kbps":-1})",
        R"({"stream_video_bitrate_min_kbps":1.5})", R"({"stream_video_bitrate_min_kbps":"1"})",
        R"({"stream_video_bitrate_max_kbps":4294967296})", R"({"rtc_log":true,"nope":1})",
        R"({"stream_video_bitrate_min_kbps":2,"stream_video_bitrate_max_kbps":1})"}}}},
    {"DELETE",
     "/1.0/platform",
     R"({"configs":["rtc_log"]})",
     {{"configs",
       true,
       {"1", R"("rtc_log")", "{}", "[]", "[1]", "[null]", R"(["nope"])", R"(["stream_active"])"}}}},
    {"PATCH",
     "/1.0/telephony",
     R"({"sim":"ready","number":"1","iccid":"890000000000000000","imsi":"001010","registration":"home",)"
     R"("operator":"x","operator_code":"00101","signal":1})",
     {{"sim", false, no_such_name},
      {"number", false, not_a_text + not_a_phone_number},
      {"iccid", false, no_such_name},
      {"imsi", false, no_such_name},
      {"registration", false, no_such_name},
      {"operator", false, not_a_text + Texts{R"("\u0000")", "\"" + std::string(65, 'x') + "\""}},
      {"operator_code", false, no_such_name},
      {"signal", false, not_an_integer + Texts{"-1", "101"}}}},
    {"POST",
     "/1.0/telephony/sms",
     R"({"number":"+1","message":"x"})",
     {{"number", true, no_such_name + not_a_phone_number}, {"message", true, not_a_message}}},
    {"POST",
     "/1.0/telephony/calls",
     R"({"number":"+1"})",
     {{"number", true, no_such_name + not_a_phone_number}}},
    {"PUT",
     "/1.0/vhal",
     R"({"prop_id":358614275,"area_id":49,"status":0,"float_values":[17]})",
     {{"prop_id", true, not_an_id + Texts{"1", "0", "-1"}},
      {"area_id", true, not_an_id + Texts{"1", "0"}},
      {"status", false, not_an_integer + Texts{"-1", "3"}},
      {"float_values", true, not_numbers + Texts{"[15.9]", "[32.1]", "[1e39]", "[17,18]", "[]"}},
      {"int32_values", false, not_int32s + Texts{"[1]"}},
      {"int64_values", false, not_int64s + Texts{"[1]"}},
      {"bytes", false, not_numbers + Texts{"[256]", "[-1]", "[1]"}},
      {"string_value", false, not_a_text + Texts{R"("x")"}}}},
};

// Requests of guests. What is wrong with one is an answer, never the end of the connection.
const std::vector<Body> ops{
    {"",
     "location.subscribe",
     R"({"interval_ms":1000,"format":"json"})",
     {{"interval_ms", false, not_an_integer + Texts{"-1", "3600001"}}, {"format", false, no_such_name}}},
    {"",
     "sensors.activate",
     R"({"type":"pressure","on":true,"delay_ms":100})",
     {{"type", true, no_such_name},
      {"on", true, not_a_flag},
      {"delay_ms", false, not_an_integer + Texts{"-1", "3600001"}}}},
    {"",
     "camera.open",
     R"({"camera":"0","width":640,"height":480,"fps":30})",
     {{"camera", true, no_such_name},
      {"width", true, not_an_integer + Texts{"-640", "0", "641", "65536", "4294967936"}},
      {"height", true, not_an_integer + Texts{"-480", "0", "720"}},
      {"fps", false, not_an_integer + Texts{"0", "-1", "61"}}}},
    {"", "display.set_orientation", R"({"orientation":"landscape"})", {{"orientation", true, no_such_name}}},
    {"",
     "trace.event",
     R"({"phase":"counter","name":"a","category":"b","value":1,"timestamp":1})",
     {{"phase", false, no_such_name},
      {"name", true, not_a_text + Texts{R"("")", "\"" + std::string(257, 'x') + "\""}},
      {"category", false, not_a_text + Texts{"\"" + std::string(257, 'x') + "\""}},
      {"value", true, not_an_integer},
      {"timestamp", false, not_an_integer + Texts{"-1", "9223372036854775807"}}}},
    {"",
     "vhal.configs",
     R"({"props":[358614275]})",
     {{"props", false, {"1", R"("x")", "{}", R"(["x"])", "[null]", "[1]", "[4294967296]", "[1.5]"}}}},
    {"",
     "vhal.get",
     R"({"prop":358614275,"area_id":49})",
     {{"prop", true, not_an_id + Texts{"1"}}, {"area_id", true, not_an_id + Texts{"1"}}}},
    {"",
     "vhal.set",
     R"({"prop":358614275,"area_id":49,"float_values":[17]})",
     {{"prop", true, not_an_id},
      {"area_id", true, not_an_id},
      {"float_values", true, not_numbers + Texts{"[99]"}}}},
    {"",
     "vhal.subscribe",
     R"({"props":[{"prop":358614275,"area_ids":[49],"sample_rate":1}]})",
     {{"props",
       true,
       {"1", "[]", "{}", "[1]", "[[]]", "[{}]", R"([{"prop":1}])", R"([{"prop":"x"}])",
        R"([{"prop":358614275,"area_ids":1}])", R"([{"prop":358614275,"area_ids":[1]}])",
        R"([{"prop":358614275,"area_ids":["x"]}])", R"([{"prop":358614275,"sample_rate":"x"}])",
        R"([{"prop":358614275,"sample_rate":-1}])"}}}},
    {"", "telephony.dial", R"({"number":"+1"})", {{"number", true, no_such_name + not_a_phone_number}}},
    {"", "telephony.answer", R"({"call":1})", {{"call", true, not_a_call}}},
    {"", "telephony.hang_up", R"({"call":1})", {{"call", true, not_a_call}}},
    {"",
     "telephony.send_sms",
     R"({"number":"+1","message":"x"})",
     {{"number", true, no_such_name + not_a_phone_number}, {"message", true, not_a_message}}},
    {"", "telephony.take_sms", R"({"sms":1})", {{"sms", true, not_a_call}}},
    {"",
     "vhal.unsubscribe",
     R"({"props":[358614275]})",
     {{"props", false, {"1", "{}", R"(["x"])", "[null]"}}}},
};

Json without(Json object, const std::string& field) {
    object.erase(field);
    return object;
}

Json with(Json object, const std::string& field, const Json& value) {
    object.set(field, value);
    return object;
}

// A value that has no JSON type of its own here (2^64) is put in as it is written.
Json wrong_value(const std::string& text) {
    return RawJson{text};
}

void check_refused(const WholeAgent& agent, const Body& body, const std::string& text) {
    INFO(body.method << " " << body.path << " " << text.substr(0, 300));
    CHECK(agent.outcome(body.method, body.path, text).substr(0, 4) == "400 ");
}

std::string state_of(const WholeAgent& agent) {
    std::string all;
    for (const char* path :
         {"/1.0", "/1.0/location", "/1.0/camera", "/1.0/sensors", "/1.0/tracing", "/1.0/platform",
          "/1.0/telephony", "/1.0/telephony/sms", "/1.0/telephony/calls", "/1.0/vhal/358614275/49"})
        all += agent.ask("GET", path).at("metadata").dump();
    return all;
}

struct Prepared {
    Prepared() : guest(agent.guest_socket()) {
        agent.switch_all(true);
        guest.hello();
        for (const char* sensor : {"acceleration", "light"})
            REQUIRE(guest
                        .ask(std::string(R"({"id":1,"op":"sensors.activate","on":true,"type":")") + sensor +
                             "\"}")
                        .at("ok")
                        .as_bool());
        REQUIRE(guest.ask(R"({"id":1,"op":"telephony.subscribe"})").at("ok").as_bool());
        for (const char* what : {"sms", "calls"}) {
            const std::string body = R"({"number":"1","message":"x"})";
            REQUIRE(agent.outcome("POST", "/1.0/telephony/" + std::string(what), body) == "200");
            guest.receive_json();
        }
    }
    WholeAgent agent;
    GuestClient guest;
};

// Events may come between.
Json answer_to(GuestClient& guest, Json request) {
    request.set("id", 7);
    REQUIRE(guest.send_json(request.dump()));
    for (;;) {
        Json message = guest.receive_json();
        if (message.find("id") != nullptr) return message;
    }
}

bool is_refusal(const Json& answer) {
    if (answer.at("ok").as_bool()) return false;
    const std::string& text = answer.at("error").as_string();
    const bool is_clear = std::none_of(text.begin(), text.end(), [](char letter) {
        return static_cast<unsigned char>(letter) < 0x20 || letter == 0x7F;
    });
    return is_clear && text.size() >= 5 && text.size() < 400 && text != "internal error";
}

}  // namespace

TEST_CASE("every field of every body is checked") {
    const Prepared place;
    const Body& body = GENERATE(from_range(bodies));
    const Json good = Json::parse(body.good);
    INFO(body.method << " " << body.path);
    REQUIRE(place.agent.outcome(body.method, body.path, body.whole(good)) == "200");
    const std::string before = state_of(place.agent);
    for (const Field& field : body.fields) {
        if (field.is_required) check_refused(place.agent, body, body.whole(without(good, field.name)));
        if (field.is_required) check_refused(place.agent, body, body.whole(with(good, field.name, nullptr)));
        for (const std::string& wrong : field.wrong)
            check_refused(place.agent, body, body.whole(with(good, field.name, wrong_value(wrong))));
    }
    CHECK(state_of(place.agent) == before);
    CHECK(place.agent.outcome(body.method, body.path, body.whole(good)) == "200");
}

TEST_CASE("what is no JSON, or another kind of it, is refused by every body") {
    const Prepared place;
    const std::string before = state_of(place.agent);
    for (const Body& body : bodies) {
        for (const std::string& text :
             {std::string(), std::string("{"), std::string("null"), std::string("1"), std::string("\"x\""),
              std::string("\0", 1), std::string("\xFF\xFE"), std::string("{}{}"),
              std::string("{\"enable\":tru}"), std::string(R"({"enable":true,"enable":true})"),
              std::string(R"({"a":"\ud800"})"), std::string("{\"a\":NaN}"), std::string("{\"a\":1e999}"),
              std::string("[[]]"), std::string("[1]"), std::string(100'000, '['),
              std::string(R"({"a":)") + std::string(500'000, '1') + "}", std::string("\xEF\xBB\xBF{}")})
            check_refused(place.agent, body, text);
        check_refused(place.agent, body, body.in_list ? "{}" : "[]");
        check_refused(place.agent, body, body.in_list ? "[{}]" : "{}");
    }
    CHECK(state_of(place.agent) == before);
}

TEST_CASE("tracing checks its switch too") {
    const Prepared place;
    const Body body{"POST", "/1.0/tracing", R"({"enable":true})", switch_fields};
    for (const std::string& wrong : not_a_flag)
        check_refused(place.agent, body, body.whole(with(Json::object(), "enable", wrong_value(wrong))));
    check_refused(place.agent, body, "{}");
    CHECK(place.agent.outcome(body.method, body.path, body.good) == "400 Tracing is already active");
}

TEST_CASE("every field of every guest operation is checked") {
    Prepared place;
    const Body& op = GENERATE(from_range(ops));
    const Json good = with(Json::parse(op.good), "op", op.path);
    INFO(op.path);
    for (const Field& field : op.fields) {
        if (field.is_required) CHECK(is_refusal(answer_to(place.guest, without(good, field.name))));
        for (const std::string& wrong : field.wrong) {
            INFO(field.name << " " << wrong);
            CHECK(is_refusal(answer_to(place.guest, with(good, field.name, wrong_value(wrong)))));
        }
    }
    CHECK(answer_to(place.guest, good).at("ok").as_bool());
}

TEST_CASE("what a path may hold is read as it is or refused with a text") {
    const WholeAgent agent;
    for (const char* path : {"/1.0/vhal/x",
                             "/1.0/vhal/%ff",
                             "/1.0/vhal/%00",
                             "/1.0/vhal/%0a1",
                             "/1.0/vhal/1%20",
                             "/1.0/vhal/0x",
                             "/1.0/vhal/0x100000000",
                             "/1.0/vhal/09",
                             "/1.0/vhal/-0x80000001",
                             "/1.0/vhal/+1",
                             "/1.0/vhal/1/x",
                             "/1.0/vhal/358614275/%ed%a0%80",
                             "/1.0/vhal/358614275/0x31/1",
                             "/1.0/vhal/config/,",
                             "/1.0/vhal/config/1,",
                             "/1.0/vhal/config/%c3",
                             "/1.0/vhal/%",
                             "/1.0/%2e%2e/1.0",
                             "/1.0/vhal/../vhal",
                             "//1.0",
                             "/1.0/vhal?prop=1",
                             "/1.0/camera/data/x",
                             "/"})
        CHECK(agent.outcome("GET", path).substr(0, 4) == "400 ");
    CHECK(agent.outcome("GET", "/1.0/vhal/config/" + std::string(12'000, '1')).substr(0, 4) == "400 ");
}

TEST_CASE("a short list of ids does not make a long answer") {
    Prepared place;
    std::string ids = "358614275";
    while (ids.size() < 12'000) ids += ",358614275";
    const Json once = place.agent.ask("GET", "/1.0/vhal/config/358614275").at("metadata");
    CHECK(place.agent.ask("GET", "/1.0/vhal/config/" + ids).at("metadata") == once);
    std::string many = "[358614275";
    while (many.size() < 900'000) many += ",358614275";
    const Json answer =
        answer_to(place.guest, Json::object({{"op", "vhal.configs"}, {"props", RawJson{many + "]"}}}));
    CHECK(answer.at("configs") == once.at("configs"));
}

TEST_CASE("a long list for one sensor is told once") {
    Prepared place;
    std::string list = R"([{"type":"light","value":0})";
    for (int value = 1; value <= 20'000; ++value)
        list += R"(,{"type":"light","value":)" + std::to_string(value) + "}";
    REQUIRE(place.agent.outcome("PATCH", "/1.0/sensors", list + "]") == "200");
    CHECK(place.guest.receive_json().at("values").dump() == "[20000.0]");
    REQUIRE(place.agent.outcome("PATCH", "/1.0/sensors", R"([{"type":"light","value":-1}])") == "200");
    CHECK(place.guest.receive_json().at("values").dump() == "[-1.0]");
}

TEST_CASE("huge bodies are refused, and slow ones cannot fill the memory") {
    const WholeAgent agent;
    const std::size_t before = open_descriptors();
    for (const Body& body : bodies) {
        CHECK(agent.outcome(body.method, body.path, std::string((1U << 20) + 1, ' ')).substr(0, 4) == "400 ");
        CHECK(agent.outcome(body.method, body.path, "[" + std::string((1U << 20) - 2, '0') + "]")
                  .substr(0, 4) == "400 ");
    }
    for (const char* length :
         {"33554433", "18446744073709551615", "99999999999999999999", "-1", "0x10", "1e3", ""}) {
        const auto reply =
            test::ask(agent.api(), std::string("POST /1.0/camera/data HTTP/1.1\r\nHost: s\r\n") +
                                       "Content-Length: " + length + "\r\n\r\n");
        CHECK(WholeAgent::check_envelope(reply).at("error_code").as_int() == 400);
    }
    std::vector<std::unique_ptr<RawClient>> slow;
    const auto is_full = [&] {
        slow.push_back(std::make_unique<RawClient>(agent.api()));
        slow.back()->send("PATCH /1.0/location HTTP/1.1\r\nHost: s\r\nContent-Length: 1000000\r\n\r\n");
        return agent.outcome("PATCH", "/1.0/location", std::string(1'000'000, ' ')) ==
               "500 too many large requests at once";
    };
    CHECK(eventually(is_full));
    CHECK(slow.size() >= 16);
    CHECK(agent.outcome("PATCH", "/1.0/location", std::string(60'000, ' ')).substr(0, 4) == "400 ");
    slow.clear();
    CHECK(eventually([&] {
        return agent.outcome("PATCH", "/1.0/location", std::string(1'000'000, ' ')).substr(0, 4) == "400 ";
    }));
    CHECK(agent.is_unharmed(before));
}
