#pragma once
// The JSON forms of vehicle properties in the control API and the guest interface. A wrong request throws
// invalid_argument with the API's text: "Missing field 'prop_id'", "Invalid value for field 'float_values'".
#include "instance-agent/agent/devices/vehicle/property.h"
#include "libsvc/base/json.h"

namespace svc::agent {

// "16", "0x31", "061": read like C's strtol with base 0, with 32 bits: a number above 0x7fffffff becomes
// negative. Nothing for any other text.
std::optional<std::int32_t> parse_property_number(std::string_view text);
// Parts of a request's path. Throws "Invalid property id '<text>'", "Invalid area id '<text>'".
PropertyId parse_property_id(std::string_view text);
AreaId parse_area_id(std::string_view text);

// The shortest decimal number that reads back to the same float: 66.2, 16.0.
std::string float_text(float value);

Json to_json(const PropertyValue& value);  // writes all five value fields
Json to_json(const PropertyConfig& config);

// Reads an int32; values up to 0xffffffff wrap. `fallback`: the value of an absent member; nothing: the
// member is required.
std::int32_t read_id(const Json& object, std::string_view key, std::optional<std::int32_t> fallback);
// The five value fields; `given`: at least one of them is there.
struct ReadValues {
    PropertyValues values;
    bool given = false;
};
ReadValues read_values(const Json& object);

// The control API requires a value field; a guest may leave out all of them, for an empty vector or a
// property without a value.
enum class ValueFields { required, optional };
// A request to set: prop under `prop_key`, area_id, status and values.
PropertyValue read_set(const Json& object, std::string_view prop_key,
                       ValueFields fields = ValueFields::required);
// Reads a provider's value for a known property and area.
PropertyValue read_value(const Json& object, PropertyId prop, AreaId area, std::int64_t now);
// Reads the form that to_json(PropertyConfig) writes.
PropertyConfig read_config(const Json& object);

}  // namespace svc::agent
