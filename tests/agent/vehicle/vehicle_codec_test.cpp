#include <catch2/catch.hpp>

#include "instance-agent/agent/devices/vehicle/property_codec.h"
#include "libsvc/base/error.h"

using namespace svc;
using namespace svc::agent;
using Catch::Matchers::Equals;

TEST_CASE("ids of vehicle properties are read in three bases and wrap at 32 bits") {
    struct Case {
        std::string text;
        std::optional<std::int32_t> number;
    };
    const std::vector<Case> cases = {{"358614275", 0x15600503},
                                     {"0x15600503", 0x15600503},
                                     {"0X15600503", 0x15600503},
                                     {"02530002403", 0x15600503},
                                     {"0", 0},
                                     {"49", 49},
                                     {"0x31", 49},
                                     {"061", 49},
                                     {"0x7fffffff", 2147483647},
                                     {"0x80000000", -2147483648},
                                     {"0xffffffff", -1},
                                     {"4294967295", -1},
                                     {"-1", -1},
                                     {"-2147483648", -2147483648},
                                     {"", {}},
                                     {"-", {}},
                                     {"0x", {}},
                                     {"+1", {}},
                                     {" 1", {}},
                                     {"1 ", {}},
                                     {"09", {}},
                                     {"1e3", {}},
                                     {"1.0", {}},
                                     {"--1", {}},
                                     {"0x-1", {}},
                                     {"-2147483649", {}},
                                     {"4294967296", {}},
                                     {"99999999999999999999", {}}};
    for (const Case& c : cases) {
        INFO(c.text);
        CHECK(parse_property_number(c.text) == c.number);
    }
    CHECK_THROWS_WITH(parse_property_id("x'y"), Equals("Invalid property id 'x'y'"));
    CHECK_THROWS_WITH(parse_area_id(""), Equals("Invalid area id ''"));
}

TEST_CASE("floats are written in the shortest form that reads back") {
    CHECK(float_text(66.2F) == "66.2");
    CHECK(float_text(16) == "16.0");
    CHECK(float_text(-0.1F) == "-0.1");
    CHECK(float_text(19.1F) == "19.1");
    CHECK(float_text(0) == "0.0");
    CHECK(float_text(16777216) == "16777216.0");
    for (const float value : {3.4028235e38F, 1.17549435e-38F, 1e-45F, 1.0F / 3}) {
        INFO(float_text(value));
        CHECK(static_cast<float>(Json::parse(float_text(value)).as_double()) == value);
    }
}

TEST_CASE("the type of a property lies in its id") {
    CHECK(type_of(0x11100100) == PropertyType::string);
    CHECK(type_of(0x11200308) == PropertyType::boolean);
    CHECK(type_of(0x15600503) == PropertyType::real);
    CHECK(type_of(0x11510306) == PropertyType::int64_vector);
    CHECK(type_of(0x11e00d01) == PropertyType::mixed);
    CHECK(type_of(static_cast<PropertyId>(0xe1700001)) == PropertyType::bytes);
    CHECK_FALSE(type_of(0x11300100));
    CHECK_FALSE(type_of(0));
    CHECK(has_area_type(0x11100100));
    CHECK_FALSE(has_area_type(0x12100100));
}

TEST_CASE("a value has to fill the fields of its type and no others") {
    struct Case {
        PropertyType type;
        PropertyValues fitting;
    };
    PropertyValues one_int{{1}, {}, {}, {}, ""}, one_long{{}, {1}, {}, {}, ""},
        one_float{{}, {}, {1}, {}, ""};
    PropertyValues one_byte{{}, {}, {}, {1}, ""}, one_text{{}, {}, {}, {}, "a"};
    const std::vector<Case> cases = {{PropertyType::string, one_text}, {PropertyType::boolean, one_int},
                                     {PropertyType::int32, one_int},   {PropertyType::int32_vector, one_int},
                                     {PropertyType::int64, one_long},  {PropertyType::int64_vector, one_long},
                                     {PropertyType::real, one_float},  {PropertyType::real_vector, one_float},
                                     {PropertyType::bytes, one_byte}};
    for (const Case& c : cases) {
        INFO(static_cast<int>(c.type));
        for (const PropertyValues& given : {one_int, one_long, one_float, one_byte, one_text}) {
            CHECK(fits(c.type, given) == (given == c.fitting));
            CHECK(fits(PropertyType::mixed, given));
        }
    }
    const PropertyValues two_ints{{1, 2}, {}, {}, {}, ""};
    CHECK_FALSE(fits(PropertyType::int32, two_ints));
    CHECK_FALSE(fits(PropertyType::int32, {}));
    CHECK(fits(PropertyType::int32_vector, two_ints));
    CHECK(fits(PropertyType::int32_vector, {}));
}

TEST_CASE("a value is written with all its fields") {
    PropertyValue value{0x15600503, 49, PropertyStatus::available, 123456789012345, {}};
    value.values.floats = {66.2F};
    CHECK(to_json(value).dump() ==
          R"({"area_id":49,"bytes":[],"float_values":[66.2],"int32_values":[],"int64_values":[],)"
          R"("prop":358614275,"status":0,"string_value":"","timestamp":123456789012345})");
    PropertyValue mixed{static_cast<PropertyId>(0x80000001), 0, PropertyStatus::error, 0, {}};
    mixed.values = {{-1}, {9223372036854775807}, {}, {0, 255}, "\"ü"};
    CHECK(
        to_json(mixed).dump() ==
        R"({"area_id":0,"bytes":[0,255],"float_values":[],"int32_values":[-1],)"
        R"("int64_values":[9223372036854775807],"prop":-2147483647,"status":2,"string_value":"\"ü","timestamp":0})");
}

TEST_CASE("requests to set a value are checked field by field") {
    const auto fault = [](const std::string& text) -> std::string {
        try {
            read_set(Json::parse(text), "prop_id");
            return "";
        } catch (const Error& e) {
            CHECK(e.code() == ErrorCode::invalid_argument);
            return e.what();
        }
    };
    CHECK(fault(R"({"prop_id":1,"int32_values":[1]})").empty());
    CHECK(
        fault(
            R"({"prop_id":1,"bytes":[],"float_values":[],"int32_values":[],"int64_values":[],"string_value":""})")
            .empty());
    CHECK(fault(R"({"prop_id":null,"int32_values":[1]})") == "Missing field 'prop_id'");
    CHECK(fault("[]") == "Request body must be an object");
    CHECK(fault(R"({"int32_values":[1]})") == "Missing field 'prop_id'");
    CHECK(fault(R"({"prop_id":"1","int32_values":[1]})") == "Invalid value for field 'prop_id'");
    CHECK(fault(R"({"prop_id":1.5,"int32_values":[1]})") == "Invalid value for field 'prop_id'");
    CHECK(fault(R"({"prop_id":4294967296,"int32_values":[1]})") == "Invalid value for field 'prop_id'");
    CHECK(fault(R"({"prop_id":18446744073709551615,"int32_values":[1]})") ==
          "Invalid value for field 'prop_id'");
    CHECK(fault(R"({"prop_id":1,"area_id":"0x31","int32_values":[1]})") ==
          "Invalid value for field 'area_id'");
    CHECK(fault(R"({"prop_id":1,"status":3,"int32_values":[1]})") == "Invalid status 3");
    CHECK(fault(R"({"prop_id":1,"status":-1,"int32_values":[1]})") == "Invalid status -1");
    CHECK(fault(R"({"prop_id":1,"status":"0","int32_values":[1]})") == "Invalid value for field 'status'");
    CHECK(fault(R"({"prop_id":1,"status":0})") == "No value provided");
    CHECK(fault(R"({"prop_id":1,"string_value":null})") == "No value provided");
    CHECK(fault(R"({"prop_id":1,"int32_values":1})") == "Invalid value for field 'int32_values'");
    CHECK(fault(R"({"prop_id":1,"int32_values":["1"]})") == "Invalid value for field 'int32_values'");
    CHECK(fault(R"({"prop_id":1,"int32_values":[2147483648]})") == "Invalid value for field 'int32_values'");
    CHECK(fault(R"({"prop_id":1,"int64_values":[9223372036854775808]})") ==
          "Invalid value for field 'int64_values'");
    CHECK(fault(R"({"prop_id":1,"float_values":[1e39]})") == "Invalid value for field 'float_values'");
    CHECK(fault(R"({"prop_id":1,"float_values":[null]})") == "Invalid value for field 'float_values'");
    CHECK(fault(R"({"prop_id":1,"bytes":[256]})") == "Invalid value for field 'bytes'");
    CHECK(fault(R"({"prop_id":1,"bytes":[-1]})") == "Invalid value for field 'bytes'");
    CHECK(fault(R"({"prop_id":1,"string_value":1})") == "Invalid value for field 'string_value'");
    const std::string most(max_property_bytes, 'a');
    CHECK(fault(R"({"prop_id":1,"string_value":")" + most + R"("})").empty());
    CHECK(fault(R"({"prop_id":1,"string_value":"a)" + most + R"("})") ==
          "Invalid value for field 'string_value'");
}

TEST_CASE("a configuration reads back as it is written") {
    PropertyConfig config{
        0x15600503, PropertyAccess::read_write, ChangeMode::continuous, {160, -2}, "text", 0.1F, 10, {}};
    config.areas = {{49, -1, 2, -3, 4, 16.5F, 32}, {68, 0, 0, 0, 0, 0, 0}};
    CHECK(read_config(Json::parse(to_json(config).dump())) == config);
    CHECK_THROWS_WITH(read_config(Json::parse(R"({"prop":1})")), Equals("Invalid property id '1'"));
    CHECK_THROWS_WITH(read_config(Json::parse(R"({"prop":358614275,"access":4})")),
                      Equals("Invalid value for field 'access'"));
    CHECK_THROWS_WITH(read_config(Json::parse(R"({"prop":358614275,"min_sample_rate":2})")),
                      Equals("Invalid value for field 'max_sample_rate'"));
    CHECK_THROWS_WITH(read_config(Json::parse(R"({"prop":358614275,"area_configs":[1]})")),
                      Equals("Invalid value for field 'area_configs'"));
}
