// The control API's table: the vehicle.
#include "tests/agent/control/control_table.h"

using namespace svc;
using namespace svc::test;

namespace {

Json value_at(const Agent& agent, const std::string& path, const std::string& body = "") {
    return agent.metadata(path, "GET", body).at("value");
}

}  // namespace

TEST_CASE("table: a property is read by decimal, octal and hexadecimal ids, global ones without an area") {
    const Agent agent;
    const std::string ids = GENERATE("358614275/49", "0x15600503/0x31", "02530002403/061");
    CHECK(
        agent.done("GET", "/1.0/vhal/" + ids) ==
        R"({"type":"sync","status":"Success","status_code":200,"metadata":{"value":{"area_id":49,"bytes":[],)"
        R"("float_values":[16.0],"int32_values":[],"int64_values":[],"prop":358614275,"status":0,)"
        R"("string_value":"","timestamp":0}}})");
    CHECK(value_at(agent, "/1.0/vhal/286261505") == value_at(agent, "/1.0/vhal/0x11100101/0"));
    CHECK(agent.error("GET", "/1.0/vhal/08") == "400 Invalid property id '08'");
    CHECK(agent.error("GET", "/1.0/vhal/286261505/x") == "400 Invalid area id 'x'");
}

TEST_CASE("table: a property that needs more is read with a body") {
    const Agent agent;
    const std::string frame = "/1.0/vhal/0x11e00d01";
    CHECK(agent.error("GET", frame) == "400 Missing field 'int64_values'");
    CHECK(agent.done("PUT", "/1.0/vhal",
                     R"({"prop_id":299896065,"int64_values":[7],"string_value":"P0070"})") == plain_success);
    CHECK(value_at(agent, frame, R"({"int64_values":[7]})").at("string_value") == Json("P0070"));
    CHECK(agent.error("GET", frame, R"({"int64_values":[8]})") == "500 VHAL request failed: NOT_AVAILABLE");
    CHECK(agent.error("GET", frame, "[]") == "400 Request body must be an object");
}

TEST_CASE("table: a property is written by the control API and read by the guest") {
    const Agent agent;
    const auto guest = attach(agent);
    CHECK(agent.done("PUT", "/1.0/vhal",
                     R"({"prop_id":286261505,"area_id":0,"status":0,"string_value":"ACME"})") ==
          plain_success);
    const Json read = guest->ask(R"({"id":2,"op":"vhal.get","prop":286261505})").at("value");
    CHECK(read.at("string_value") == Json("ACME"));
    CHECK(read.at("timestamp").as_int() > 0);
    guest->ask(R"({"id":3,"op":"vhal.set","prop":358614275,"area_id":68,"float_values":[21.5]})");
    CHECK(value_at(agent, "/1.0/vhal/358614275/68").at("float_values") == Json::parse("[21.5]"));
    for (const char* empty : {R"({"prop_id":286261505})", R"({"prop_id":286261505,"status":1})"})
        CHECK(agent.error("PUT", "/1.0/vhal", empty) == "400 No value provided");
    CHECK(agent.error("PUT", "/1.0/vhal", R"({"prop_id":286261505,"status":3,"string_value":""})") ==
          "400 Invalid status 3");
    CHECK(agent.error("PUT", "/1.0/vhal", R"({"prop_id":"0x11100101","string_value":""})") ==
          "400 Invalid value for field 'prop_id'");
    CHECK(agent.error("PUT", "/1.0/vhal", "[]") == "400 Request body must be an object");
}

TEST_CASE("a guest tells of a property that has no value, and of an empty vector") {
    const Agent agent;
    const auto guest = attach(agent);
    CHECK(guest->ask(R"({"id":2,"op":"vhal.set","prop":291504900,"status":1})").at("ok").as_bool());
    const Json temperature = value_at(agent, "/1.0/vhal/291504900");
    CHECK(temperature.at("status") == Json(1));
    CHECK(temperature.at("float_values") == Json::array());
    CHECK(guest->ask(R"({"id":3,"op":"vhal.set","prop":289475073})").at("ok").as_bool());
    CHECK(value_at(agent, "/1.0/vhal/289475073").at("int32_values") == Json::array());
    CHECK_FALSE(guest->ask(R"({"id":4,"op":"vhal.set","prop":291504900})").at("ok").as_bool());
}

TEST_CASE("table: configurations of all properties and of those named") {
    const Agent agent;
    CHECK(agent.metadata("/1.0/vhal/config").at("configs").as_array().size() == 75);
    CHECK(
        agent.done("GET", "/1.0/vhal/config/0x15600503,02104000401") ==
        R"({"type":"sync","status":"Success","status_code":200,"metadata":{"configs":[{"access":3,"area_configs":[)"
        R"({"area_id":49,"max_float_value":32.0,"max_int32_value":0,"max_int64_value":0,"min_float_value":16.0,)"
        R"("min_int32_value":0,"min_int64_value":0},)"
        R"({"area_id":68,"max_float_value":32.0,"max_int32_value":0,"max_int64_value":0,"min_float_value":16.0,)"
        R"("min_int32_value":0,"min_int64_value":0}],"change_mode":1,"config_array":[160,280,5,605,825,10],)"
        R"("config_string":"","max_sample_rate":0.0,"min_sample_rate":0.0,"prop":358614275,"value_type":6291456},)"
        R"({"access":1,"area_configs":[],"change_mode":0,"config_array":[],"config_string":"",)"
        R"("max_sample_rate":0.0,"min_sample_rate":0.0,"prop":286261505,"value_type":1048576}]}})");
    CHECK(agent.error("GET", "/1.0/vhal/config/286261505,1") == "400 Unknown property 1");
    CHECK(agent.error("GET", "/1.0/vhal/config/286261505,") == "400 Invalid property id ''");
}

TEST_CASE("table: an image without a vehicle answers 500 on each vehicle route") {
    const Agent agent(agent::Automotive::no);
    const auto [method, path] =
        GENERATE(std::pair{"GET", "/1.0/vhal/1"}, std::pair{"GET", "/1.0/vhal/1/0/"},
                 std::pair{"PUT", "/1.0/vhal"}, std::pair{"GET", "/1.0/vhal/config"},
                 std::pair{"GET", "/1.0/vhal/config/x,y"}, std::pair{"DELETE", "/1.0/vhal/zzz"});
    CHECK(agent.error(method, path) == "500 VHAL is not supported");
}
