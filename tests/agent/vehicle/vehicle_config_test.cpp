#include <catch2/catch.hpp>

#include "instance-agent/agent/devices/vehicle/config_file.h"
#include "instance-agent/agent/devices/vehicle/property_codec.h"
#include "instance-agent/agent/devices/vehicle/property_names.h"
#include "instance-agent/agent/devices/vehicle/property_table.h"
#include "libsvc/base/strings.h"
#include "tests/support/error_code.h"
#include "tests/support/golden.h"

using namespace svc;
using namespace svc::agent;

namespace {

std::string with_property(const std::string& members) {
    return R"({"properties":[{)" + members + "}]}";
}

std::string fault_of(const std::string& text) {
    return test::message_of([&] { parse_vehicle_config(text); });
}

// The properties as the API tells them, a line each: configuration, and the values right after the start.
std::string as_told(const VehicleConfig& config) {
    const PropertyTable table(config.properties);
    std::string lines;
    for (const PropertyConfig& property : table.configs()) {
        const KnownProperty* known = find_property(property.prop);
        Json line = Json::object(
            {{"name", known != nullptr ? Json(known->name) : Json()}, {"config", to_json(property)}});
        Json values = Json::array();
        for (const AreaId area : property.area_ids())
            values.push_back(to_json(table.peek(property.prop, area)));
        line.set("values", std::move(values));
        lines += line.dump() + "\n";
    }
    return lines;
}

// The properties that the tests below give one member too few, or a wrong one.
const std::string vin = R"("property":"VehicleProperty::INFO_VIN")";
const std::string vehicle_config_speed = R"("property":"VehicleProperty::PERF_VEHICLE_SPEED")";
const std::string fan = R"("property":"VehicleProperty::HVAC_FAN_SPEED")";

}  // namespace

TEST_CASE("the built-in vehicle has the common properties") {
    const VehicleConfig config = parse_vehicle_config(default_properties());
    CHECK(config.skipped.empty());
    CHECK(config.properties.size() == 75);
    test::check_golden("agent/golden/vehicle_defaults.txt", as_told(config));
}

TEST_CASE("a configuration file may use every form of the format") {
    const VehicleConfig config =
        parse_vehicle_config(test::read_golden("agent/golden/vehicle_config_input.json"));
    CHECK(config.skipped == std::vector<std::string>{"VehicleProperty::NOT_YET_INVENTED"});
    test::check_golden("agent/golden/vehicle_config.txt", as_told(config));
}

TEST_CASE("each fault of a configuration file is named") {
    CHECK(fault_of("{").starts_with("malformed JSON at byte"));
    CHECK(fault_of("[]") == "the file is not a JSON object");
    CHECK(fault_of("{}") == "properties is missing");
    CHECK(fault_of(R"({"properties":{}})") == "properties is not an array");
    CHECK(fault_of(R"({"properties":[1]})") == "properties[0] is not an object");
    CHECK(fault_of(R"({"apiVersion":"x","properties":[]})") == "apiVersion names an unknown constant 'x'");
    CHECK(fault_of(R"({"properties":[{)" + vin + "},{" + vin + "}]}") ==
          "properties[1].property is listed twice");
}

TEST_CASE("each fault of a property number is named") {
    CHECK(fault_of(with_property("")) == "properties[0].property is missing");
    CHECK(fault_of(with_property(R"("property":1.5)")) == "properties[0].property is not an integer");
    CHECK(fault_of(with_property(R"("property":99999999999)")) == "properties[0].property is out of range");
    CHECK(fault_of(with_property(R"("property":5)")) ==
          "properties[0].property has no known value type or area type");
    CHECK(fault_of(with_property(R"("property":"INFO_VIN")")) ==
          "properties[0].property names an unknown constant 'INFO_VIN'");
    CHECK(fault_of(with_property(R"("property":554700800)")) ==
          "properties[0].access is required for a vendor's property\n"
          "properties[0].changeMode is required for a vendor's property");
}

TEST_CASE("each fault of a property's members is named") {
    CHECK(fault_of(with_property(vin + R"(,"access":4)")) == "properties[0].access is out of range");
    CHECK(fault_of(with_property(vin + R"(,"changeMode":"VehicleUnit::NOPE")")) ==
          "properties[0].changeMode names an unknown constant 'VehicleUnit::NOPE'");
    CHECK(fault_of(with_property(vehicle_config_speed)) ==
          "properties[0].minSampleRate is required for a continuous property\n"
          "properties[0].maxSampleRate is required for a continuous property");
    CHECK(fault_of(with_property(vehicle_config_speed + R"(,"minSampleRate":2,"maxSampleRate":1)")) ==
          "properties[0].minSampleRate is above the upper limit");
    CHECK(fault_of(with_property(vehicle_config_speed + R"(,"minSampleRate":-1,"maxSampleRate":1)")) ==
          "properties[0].minSampleRate is out of range");
    CHECK(fault_of(with_property(vin + R"(,"configString":1)")) ==
          "properties[0].configString is not a string");
    CHECK(fault_of(with_property(vin + R"(,"configArray":[1,true])")) ==
          "properties[0].configArray[1] is not an integer");
    CHECK(fault_of(with_property(vin + R"(,"defaultValue":[])")) ==
          "properties[0].defaultValue is not an object");
    CHECK(fault_of(with_property(vin + R"(,"defaultValue":{"int32Values":[1]})")) ==
          "properties[0].defaultValue does not match the property's type");
    CHECK(fault_of(with_property(vin + R"(,"defaultValue":{"bytesValues":[256]})")) ==
          "properties[0].defaultValue.bytesValues[0] is out of range");
}

TEST_CASE("each fault of a property's areas is named") {
    CHECK(fault_of(with_property(fan + R"(,"areas":[{}])")) == "properties[0].areas[0].areaId is missing");
    CHECK(fault_of(with_property(fan + R"(,"areas":[{"areaId":1},{"areaId":1}])")) ==
          "properties[0].areas[1].areaId is listed twice");
    CHECK(fault_of(with_property(fan + R"(,"areas":[{"areaId":1,"minInt32Value":2,"maxInt32Value":1}])")) ==
          "properties[0].areas[0].minInt32Value is above the upper limit");
    CHECK(fault_of(with_property(fan + R"(,"areas":[{"areaId":1,"supportVariableUpdateRate":1}])")) ==
          "properties[0].areas[0].supportVariableUpdateRate is not a boolean");
    CHECK(fault_of(with_property(fan + R"(,"areas":[{"areaId":1,"supportedEnumValues":["A::B"]}])")) ==
          "properties[0].areas[0].supportedEnumValues[0] names an unknown constant 'A::B'");
}

TEST_CASE("all faults of a configuration file are told together") {
    CHECK(fault_of(R"({"properties":[{"property":true},{"property":"VehicleProperty::INFO_VIN",
                      "configString":1,"areas":1}]})") ==
          "properties[0].property is not an integer\n"
          "properties[1].configString is not a string\n"
          "properties[1].areas is not an array");
}

TEST_CASE("a configuration file of endless faults or entries is refused briefly") {
    std::string many = R"({"properties":[)";
    for (int i = 0; i < 4000; ++i) many += "{},";
    CHECK(split(fault_of(many + "{}]}"), '\n').size() == 201);
    std::string more = R"({"properties":[)";
    for (std::size_t i = 0; i < max_properties; ++i) more += "{},";
    CHECK(fault_of(more + "{}]}") == "properties has too many entries");
}

TEST_CASE("names of properties and constants are known") {
    CHECK(find_constant("VehicleProperty::HVAC_TEMPERATURE_SET") == 0x15600503);
    CHECK(find_constant("Constants::HVAC_LEFT") == 49);
    CHECK(find_constant("ErrorState::NOT_AVAILABLE_SAFETY") == -6);
    CHECK(find_constant("VehicleAreaDoor::REAR") == 0x20000000);
    CHECK_FALSE(find_constant("Constants::"));
    CHECK_FALSE(find_constant("HVAC_LEFT"));
    CHECK_FALSE(find_constant(""));
    const KnownProperty* vin = find_property(0x11100100);
    REQUIRE(vin != nullptr);
    CHECK(vin->name == "INFO_VIN");
    CHECK(vin->access == PropertyAccess::read);
    CHECK(vin->change_mode == ChangeMode::fixed);
    CHECK(find_property("PERF_ODOMETER")->change_mode == ChangeMode::continuous);
    CHECK(find_property(1) == nullptr);
}
