#include <catch2/catch.hpp>

#include "tests/agent/vehicle/vehicle_place.h"

using namespace svc;
using svc::test::VehiclePlace;

namespace {

const std::string fan_speed = "356517120", temperature = "0x15600503";

std::string set(VehiclePlace& place, const std::string& members) {
    return place.outcome(Method::put, "/1.0/vhal", "{" + members + "}");
}

}  // namespace

TEST_CASE("every vehicle request to an image that is not automotive fails alike") {
    agent::Vehicle vehicle(nullptr);
    const Router router(vehicle.routes());
    CHECK(vehicle.extensions().empty());
    CHECK(vehicle.guest_feature().name.empty());
    for (const Method method : {Method::get, Method::head, Method::post, Method::put, Method::patch,
                                Method::delete_, Method::options, Method::other})
        for (const auto* path : {"/1.0/vhal", "/1.0/vhal/", "/1.0/vhal/1", "/1.0/vhal/x/y/",
                                 "/1.0/vhal/config", "/1.0/vhal/config/1,2"}) {
            INFO(to_text(method) << " " << path);
            const auto match = router.match(method, path);
            REQUIRE(match.route != nullptr);
            Request request;
            request.body = "no JSON";
            CHECK_THROWS_WITH(match.route->handler(request), "VHAL is not supported");
        }
    auto feature = vehicle.guest_feature();
    const Json nothing = Json::object();
    for (const auto& [name, op] : feature.ops)
        CHECK_THROWS_WITH(op(std::make_shared<test::VehicleGuest>(1), JsonFields(nothing)),
                          "VHAL is not supported");
    CHECK(agent::failure(Error(ErrorCode::unsupported, "VHAL is not supported")).status == 500);
}

TEST_CASE("a property is read by decimal, octal and hexadecimal ids") {
    VehiclePlace place;
    for (const auto* path :
         {"/1.0/vhal/0x15600503/0x31", "/1.0/vhal/358614275/49", "/1.0/vhal/02530002403/061/"})
        CHECK(place.value(path).dump() ==
              R"({"area_id":49,"bytes":[],"float_values":[16.0],"int32_values":[],"int64_values":[],)"
              R"("prop":358614275,"status":0,"string_value":"","timestamp":0})");
    CHECK(place.value("/1.0/vhal/286261504") == place.value("/1.0/vhal/286261504/0"));
    CHECK(place.ask(Method::get, "/1.0/vhal/286261504")->body().at("status_code") == Json(200));
    CHECK(place.vehicle.extensions() == std::vector<std::string>{"vhal_support"});
}

TEST_CASE("ids that name nothing are told apart") {
    VehiclePlace place;
    const auto get = [&](const std::string& rest) { return place.outcome(Method::get, "/1.0/vhal/" + rest); };
    CHECK(get("abc") == "400 Invalid property id 'abc'");
    CHECK(get("0x1ffffffff") == "400 Invalid property id '0x1ffffffff'");
    CHECK(get("286261504/x") == "400 Invalid area id 'x'");
    CHECK(get("1") == "400 Unknown property 1");
    CHECK(get("0xffffffff") == "400 Unknown property -1");
    CHECK(get("286261504/1") == "400 Unknown area 1 for property 286261504");
    CHECK(get(temperature) == "400 Unknown area 0 for property 358614275");
    CHECK(get("config/286261504,x") == "400 Invalid property id 'x'");
    CHECK(get("config/286261504,") == "400 Invalid property id ''");
    CHECK(get("config/286261504,2") == "400 Unknown property 2");
    CHECK(place.outcome(Method::get, "/1.0/vhal") == "400 API endpoint does not exist");
    CHECK(place.outcome(Method::put, "/1.0/vhal/1") == "400 API endpoint does not exist");
    CHECK(place.outcome(Method::get, "/1.0/vhal/286261504", "[]") == "400 Request body must be an object");
    CHECK(place.outcome(Method::get, "/1.0/vhal/286261504", R"({"bytes":1})") ==
          "400 Invalid value for field 'bytes'");
    CHECK(place.outcome(Method::get, "/1.0/vhal/286261504", R"({"bytes":[]})") == "200");
}

TEST_CASE("what is set is read back, with the time since boot") {
    VehiclePlace place;
    place.boot_time = 987654321012345;
    CHECK(set(place, R"("prop_id":358614275,"area_id":68,"status":0,"float_values":[21.7])") == "200");
    const Json value = place.value("/1.0/vhal/0x15600503/68");
    CHECK(value.dump().find(R"("float_values":[21.7])") != std::string::npos);
    CHECK(value.at("timestamp") == Json(987654321012345));
    CHECK(place.value("/1.0/vhal/0x15600503/49").at("timestamp") == Json(0));
    // As documented for the API: the vehicle's side writes what applications may only read.
    CHECK(set(place, R"("prop_id":286261505,"string_value":"Größer")") == "200");
    CHECK(place.value("/1.0/vhal/286261505").at("string_value") == Json("Größer"));
    CHECK(set(place, R"("prop_id":290521862,"int64_values":[9223372036854775807,-1])") == "200");
    CHECK(place.value("/1.0/vhal/290521862").at("int64_values").dump() == "[9223372036854775807,-1]");
    CHECK(set(place, R"("prop_id":287310858,"status":2,"int32_values":[1])") == "200");
    CHECK(place.value("/1.0/vhal/287310858").at("status") == Json(2));
}

TEST_CASE("a property without a default is unavailable until it is set") {
    VehiclePlace place;
    const Json before = place.value("/1.0/vhal/289475072");
    CHECK(before.at("status") == Json(1));
    CHECK(before.at("int32_values") == Json::array());
    CHECK(set(place, R"("prop_id":289475072,"int32_values":[])") == "200");
    CHECK(place.value("/1.0/vhal/289475072").at("status") == Json(0));
    CHECK(set(place, R"("prop_id":287310858,"status":1,"int32_values":[])") == "200");
    CHECK(place.value("/1.0/vhal/287310858").at("int32_values") == Json::array());
}

TEST_CASE("a value that does not fit changes nothing") {
    VehiclePlace place;
    const Json before = place.value("/1.0/vhal/356517120/117");
    const auto fan = [&](const std::string& members) {
        return set(place, R"("prop_id":356517120,"area_id":117,)" + members);
    };
    CHECK(fan(R"("int32_values":[8])") == "400 Value out of range");
    CHECK(fan(R"("int32_values":[0])") == "400 Value out of range");
    CHECK(fan(R"("int32_values":[1,2])") == "400 Value type does not match property type");
    CHECK(fan(R"("int32_values":[])") == "400 Value type does not match property type");
    CHECK(fan(R"("float_values":[1])") == "400 Value type does not match property type");
    CHECK(fan(R"("int32_values":[1],"string_value":"a")") == "400 Value type does not match property type");
    CHECK(fan(R"("status":0)") == "400 No value provided");
    CHECK(fan(R"("status":7,"int32_values":[1])") == "400 Invalid status 7");
    CHECK(set(place, R"("prop_id":356517120,"area_id":1,"int32_values":[1])") ==
          "400 Unknown area 1 for property 356517120");
    CHECK(set(place, R"("prop_id":5,"int32_values":[1])") == "400 Unknown property 5");
    CHECK(set(place, R"("prop_id":287310858,"int32_values":[2])") == "400 Value out of range");
    CHECK(set(place, R"("prop_id":358614275,"area_id":49,"float_values":[32.1])") ==
          "400 Value out of range");
    CHECK(place.outcome(Method::put, "/1.0/vhal", "").starts_with("400 malformed JSON"));
    CHECK(place.value("/1.0/vhal/356517120/117") == before);
    CHECK(fan(R"("int32_values":[7],"float_values":[],"int64_values":[],"bytes":[],"string_value":"")") ==
          "200");
}

TEST_CASE("configurations are told all or by id, in the order that was asked for") {
    VehiclePlace place;
    const auto configs = [&](const std::string& path) {
        return place.ask(Method::get, path)->body().at("metadata").at("configs").as_array();
    };
    CHECK(configs("/1.0/vhal/config").size() == 75);
    CHECK(configs("/1.0/vhal/config/").size() == 75);
    const auto two = configs("/1.0/vhal/config/0x15600503,286261504");
    REQUIRE(two.size() == 2);
    CHECK(two[1].at("prop") == Json(286261504));
    CHECK(two[1].at("area_configs") == Json::array());
    CHECK(two[0].dump() ==
          R"({"access":3,"area_configs":[)"
          R"({"area_id":49,"max_float_value":32.0,"max_int32_value":0,"max_int64_value":0,)"
          R"("min_float_value":16.0,"min_int32_value":0,"min_int64_value":0},)"
          R"({"area_id":68,"max_float_value":32.0,"max_int32_value":0,"max_int64_value":0,)"
          R"("min_float_value":16.0,"min_int32_value":0,"min_int64_value":0}],)"
          R"("change_mode":1,"config_array":[160,280,5,605,825,10],"config_string":"","max_sample_rate":0.0,)"
          R"("min_sample_rate":0.0,"prop":358614275,"value_type":6291456})");
}

TEST_CASE("freeze frames are kept by their time") {
    VehiclePlace place;
    const std::string frame = "/1.0/vhal/299896065", info = "/1.0/vhal/299896066";
    CHECK(place.outcome(Method::get, frame) == "400 Missing field 'int64_values'");
    CHECK(place.outcome(Method::get, frame, R"({"int64_values":[5]})") ==
          "500 VHAL request failed: NOT_AVAILABLE");
    place.boot_time = 70;
    CHECK(set(place, R"("prop_id":299896065,"int32_values":[1],"string_value":"P0070")") == "200");
    CHECK(set(place, R"("prop_id":299896065,"int64_values":[5],"string_value":"P0005")") == "200");
    CHECK(place.value(info).at("int64_values").dump() == "[5,70]");
    CHECK(place.value(info).at("timestamp") == Json(70));
    CHECK(place.value(frame, R"({"int64_values":[70]})").at("string_value") == Json("P0070"));
    CHECK(place.value(frame, R"({"int64_values":[5]})").at("timestamp") == Json(5));
    for (int i = 100; i < 120; ++i)
        set(place, R"("prop_id":299896065,"string_value":"","int64_values":[)" + std::to_string(i) + "]");
    CHECK(place.value(info).at("int64_values").as_array().size() == 16);
}

TEST_CASE("freeze frames are cleared one by one or all at once") {
    VehiclePlace place(R"({"properties":[{"property":"VehicleProperty::OBD2_FREEZE_FRAME"},
        {"property":"VehicleProperty::OBD2_FREEZE_FRAME_INFO"},
        {"property":"VehicleProperty::OBD2_FREEZE_FRAME_CLEAR"}]})");
    for (const auto* time : {"1", "2", "3"})
        set(place, std::string(R"("prop_id":299896065,"int64_values":[)") + time + "]");
    CHECK(set(place, R"("prop_id":299896067,"int64_values":[2,9])") == "200");
    CHECK(place.value("/1.0/vhal/299896066").at("int64_values").dump() == "[1,3]");
    CHECK(set(place, R"("prop_id":299896067,"int64_values":[])") == "200");
    CHECK(place.value("/1.0/vhal/299896066").at("int64_values").dump() == "[]");
}

TEST_CASE("a vehicle with a faulty configuration waits for a provider") {
    VehiclePlace place(std::nullopt);
    CHECK(place.outcome(Method::get, "/1.0/vhal/286261504") == "500 VHAL is not available");
    CHECK(place.outcome(Method::get, "/1.0/vhal/config") == "500 VHAL is not available");
    CHECK(set(place, R"("prop_id":286261504,"string_value":"a")") == "500 VHAL is not available");
    CHECK(set(place, R"("string_value":"a")") == "400 Missing field 'prop_id'");
}
