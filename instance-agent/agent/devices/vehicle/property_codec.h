#pragma once
// Vehicle properties as the control API and the guest interface write them. What is wrong in a request throws
// invalid_argument with the API's text: "Missing field 'prop_id'", "Invalid value for field 'float_values'".
#include "instance-agent/agent/devices/vehicle/property.h"
#include "libsvc/base/json.h"

namespace svc::agent {

// "16", "0x31", "061": as C's strtol with base 0 reads them, 32 bits wide; what is above 0x7fffffff becomes
// negative. Nothing for anything else.
std::optional<std::int32_t> parse_property_number(std::string_view text);
// The parts of a path. Throws "Invalid property id '<text>'", "Invalid area id '<text>'".
PropertyId parse_property_id(std::string_view text);
AreaId parse_area_id(std::string_view text);

// The shortest decimal number that reads back to the same float: 66.2, 16.0.
std::string float_text(float value);

Json to_json(const PropertyValue& value);  // all five fields, always
Json to_json(const PropertyConfig& config);

// Reads an int32; values up to 0xffffffff wrap. `fallback`: what an absent one means; nothing: it is
// required.
std::int32_t read_id(const Json& object, std::string_view key, std::optional<std::int32_t> fallback);
// The five fields; `given`: at least one of them is there.
struct ReadValues {
    PropertyValues values;
    bool given = false;
};
ReadValues read_values(const Json& object);

// The control API wants one value field at least; a guest may tell of an empty vector, or of what has no
// value.
enum class ValueFields { required, optional };
// A request to set: prop under `prop_key`, area_id, status and values.
PropertyValue read_set(const Json& object, std::string_view prop_key,
                       ValueFields fields = ValueFields::required);
// A value as a provider tells it: the place is known.
PropertyValue read_value(const Json& object, PropertyId prop, AreaId area, std::int64_t now);
// A configuration as to_json writes it.
PropertyConfig read_config(const Json& object);

}  // namespace svc::agent
