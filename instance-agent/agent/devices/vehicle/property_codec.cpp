#include "instance-agent/agent/devices/vehicle/property_codec.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::agent {

namespace {

[[noreturn]] void refuse_property(const std::string& text) {
    throw Error(ErrorCode::invalid_argument, text);
}

[[noreturn]] void refuse_field(std::string_view key) {
    refuse_property("Invalid value for field '" + std::string(key) + "'");
}

// A null member counts as absent.
const Json* member(const Json& object, std::string_view key) {
    const Json* found = object.find(key);
    return found != nullptr && !found->is_null() ? found : nullptr;
}

std::int64_t integer_of(const Json& value, std::string_view key, std::int64_t low, std::int64_t high) {
    if (!value.is_integer()) refuse_field(key);
    try {
        const std::int64_t number = value.as_int();
        if (number >= low && number <= high) return number;
    } catch (const Error&) {
        refuse_field(key);  // above 2^63
    }
    refuse_field(key);
}

template <class T>
T number_of(const Json& value, std::string_view key) {
    return static_cast<T>(
        integer_of(value, key, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}

template <>
float number_of<float>(const Json& value, std::string_view key) {
    constexpr double limit = std::numeric_limits<float>::max();
    if (!value.is_number() || !(std::fabs(value.as_double()) <= limit)) refuse_field(key);
    return static_cast<float>(value.as_double());
}

template <class T>
bool read_array(const Json& object, std::string_view key, std::size_t most, std::vector<T>& into) {
    const Json* array = member(object, key);
    if (array == nullptr) return false;
    if (!array->is_array() || array->as_array().size() > most) refuse_field(key);
    for (const Json& item : array->as_array()) into.push_back(number_of<T>(item, key));
    return true;
}

bool read_text(const Json& object, std::string_view key, std::string& into) {
    const Json* text = member(object, key);
    if (text == nullptr) return false;
    if (!text->is_string() || text->as_string().size() > max_property_bytes) refuse_field(key);
    into = text->as_string();
    return true;
}

template <class T>
T read_number(const Json& object, std::string_view key) {
    const Json* number = member(object, key);
    return number != nullptr ? number_of<T>(*number, key) : T{};
}

template <class Number>
Json array_of(const std::vector<Number>& items) {
    JsonArray array;
    for (const Number item : items) array.emplace_back(std::int64_t{item});
    return array;
}

Json number_json(float value) {
    return RawJson{float_text(value)};
}

Json array_of(const std::vector<float>& items) {
    JsonArray array;
    for (const float item : items) array.push_back(number_json(item));
    return array;
}

Json to_json(const AreaConfig& area) {
    return Json::object({{"area_id", area.id},
                         {"max_float_value", number_json(area.max_float)},
                         {"max_int32_value", area.max_int32},
                         {"max_int64_value", area.max_int64},
                         {"min_float_value", number_json(area.min_float)},
                         {"min_int32_value", area.min_int32},
                         {"min_int64_value", area.min_int64}});
}

AreaConfig read_area(const Json& object) {
    if (!object.is_object()) refuse_field("area_configs");
    AreaConfig area;
    area.id = read_id(object, "area_id", std::nullopt);
    area.max_float = read_number<float>(object, "max_float_value");
    area.max_int32 = read_number<std::int32_t>(object, "max_int32_value");
    area.max_int64 = read_number<std::int64_t>(object, "max_int64_value");
    area.min_float = read_number<float>(object, "min_float_value");
    area.min_int32 = read_number<std::int32_t>(object, "min_int32_value");
    area.min_int64 = read_number<std::int64_t>(object, "min_int64_value");
    return area;
}

std::vector<AreaConfig> read_areas(const Json& object) {
    const Json* areas = member(object, "area_configs");
    if (areas == nullptr) return {};
    if (!areas->is_array() || areas->as_array().size() > 256) refuse_field("area_configs");
    std::vector<AreaConfig> read;
    for (const Json& area : areas->as_array()) read.push_back(read_area(area));
    return read;
}

std::int64_t small_number(const Json& object, std::string_view key, std::int64_t high) {
    const Json* value = member(object, key);
    return value != nullptr ? integer_of(*value, key, 0, high) : 0;
}

PropertyStatus read_status(const Json& object) {
    const Json* status = member(object, "status");
    if (status == nullptr) return PropertyStatus::available;
    const std::int64_t number = number_of<std::int64_t>(*status, "status");
    if (number < 0 || number > 2) refuse_property("Invalid status " + std::to_string(number));
    return static_cast<PropertyStatus>(number);
}

}  // namespace

std::optional<std::int32_t> parse_property_number(std::string_view text) {
    const bool negative = text.starts_with('-');
    if (negative) text.remove_prefix(1);
    int base = 10;
    if (text.starts_with("0x") || text.starts_with("0X")) {
        base = 16;
        text.remove_prefix(2);
    } else if (text.size() > 1 && text.front() == '0') {
        base = 8;
    }
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    if (!negative) return static_cast<std::int32_t>(number);
    if (number > 0x80000000U) return std::nullopt;
    return static_cast<std::int32_t>(0U - number);
}

PropertyId parse_property_id(std::string_view text) {
    if (const auto id = parse_property_number(text)) return *id;
    refuse_property("Invalid property id " + quoted(text));
}

AreaId parse_area_id(std::string_view text) {
    if (const auto id = parse_property_number(text)) return *id;
    refuse_property("Invalid area id " + quoted(text));
}

std::string float_text(float value) {
    std::array<char, 64> buffer{};
    const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
    std::string text(buffer.data(), result.ptr);
    if (text.find_first_of(".en") == std::string::npos) text += ".0";
    return text;
}

Json to_json(const PropertyValue& value) {
    return Json::object({{"area_id", value.area},
                         {"bytes", array_of(value.values.bytes)},
                         {"float_values", array_of(value.values.floats)},
                         {"int32_values", array_of(value.values.int32s)},
                         {"int64_values", array_of(value.values.int64s)},
                         {"prop", value.prop},
                         {"status", static_cast<int>(value.status)},
                         {"string_value", value.values.text},
                         {"timestamp", value.timestamp}});
}

Json to_json(const PropertyConfig& config) {
    Json areas = Json::array();
    for (const AreaConfig& area : config.areas) areas.push_back(to_json(area));
    return Json::object({{"access", static_cast<int>(config.access)},
                         {"area_configs", std::move(areas)},
                         {"change_mode", static_cast<int>(config.change_mode)},
                         {"config_array", array_of(config.config_array)},
                         {"config_string", config.config_string},
                         {"max_sample_rate", number_json(config.max_rate)},
                         {"min_sample_rate", number_json(config.min_rate)},
                         {"prop", config.prop},
                         {"value_type", config.prop & 0x00ff0000}});
}

std::int32_t read_id(const Json& object, std::string_view key, std::optional<std::int32_t> fallback) {
    const Json* value = member(object, key);
    if (value == nullptr && fallback) return *fallback;
    if (value == nullptr) refuse_property("Missing field '" + std::string(key) + "'");
    constexpr std::int64_t low = std::numeric_limits<std::int32_t>::min();
    constexpr std::int64_t high = std::numeric_limits<std::uint32_t>::max();
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(integer_of(*value, key, low, high)));
}

ReadValues read_values(const Json& object) {
    if (!object.is_object()) refuse_property("Request body must be an object");
    ReadValues read;
    PropertyValues& values = read.values;
    read.given |= read_array(object, "int32_values", max_property_entries, values.int32s);
    read.given |= read_array(object, "int64_values", max_property_entries, values.int64s);
    read.given |= read_array(object, "float_values", max_property_entries, values.floats);
    read.given |= read_array(object, "bytes", max_property_bytes, values.bytes);
    read.given |= read_text(object, "string_value", values.text);
    return read;
}

PropertyValue read_set(const Json& object, std::string_view prop_key, ValueFields fields) {
    if (!object.is_object()) refuse_property("Request body must be an object");
    PropertyValue value;
    value.prop = read_id(object, prop_key, std::nullopt);
    value.area = read_id(object, "area_id", 0);
    value.status = read_status(object);
    ReadValues read = read_values(object);
    if (!read.given && fields == ValueFields::required) refuse_property("No value provided");
    value.values = std::move(read.values);
    return value;
}

PropertyValue read_value(const Json& object, PropertyId prop, AreaId area, std::int64_t now) {
    PropertyValue value{prop, area, PropertyStatus::available, now, read_values(object).values};
    value.status = read_status(object);
    if (const Json* timestamp = member(object, "timestamp"))
        value.timestamp = integer_of(*timestamp, "timestamp", 0, std::numeric_limits<std::int64_t>::max());
    return value;
}

PropertyConfig read_config(const Json& object) {
    if (!object.is_object()) refuse_field("configs");
    PropertyConfig config;
    config.prop = read_id(object, "prop", std::nullopt);
    if (!type_of(config.prop)) refuse_property("Invalid property id '" + std::to_string(config.prop) + "'");
    config.access = static_cast<PropertyAccess>(small_number(object, "access", 3));
    config.change_mode = static_cast<ChangeMode>(small_number(object, "change_mode", 2));
    read_array(object, "config_array", max_property_entries, config.config_array);
    read_text(object, "config_string", config.config_string);
    config.min_rate = read_number<float>(object, "min_sample_rate");
    config.max_rate = read_number<float>(object, "max_sample_rate");
    if (config.min_rate < 0 || config.max_rate < config.min_rate) refuse_field("max_sample_rate");
    config.areas = read_areas(object);
    return config;
}

}  // namespace svc::agent
