#include "instance-agent/agent/devices/vehicle/config_file.h"

#include <set>

#include "instance-agent/agent/devices/vehicle/config_reader.h"
#include "instance-agent/agent/devices/vehicle/property_names.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::agent {

namespace {

constexpr std::int64_t lowest_id = std::numeric_limits<std::int32_t>::min();
constexpr std::int64_t highest_id = std::numeric_limits<std::uint32_t>::max();

bool has_values(const ConfigReader& reader) {
    for (const auto* key : {"int32Values", "int64Values", "floatValues", "bytesValues", "stringValue"})
        if (reader.has(key)) return true;
    return false;
}

// Nothing: absent or faulty.
std::optional<PropertyValues> read_default(const ConfigReader& parent, PropertyId prop) {
    const auto reader = parent.object("defaultValue");
    if (!reader || !has_values(*reader)) return std::nullopt;
    PropertyValues values;
    values.int32s = reader->integers<std::int32_t>("int32Values", max_property_entries);
    values.int64s = reader->integers<std::int64_t>("int64Values", max_property_entries);
    values.floats = reader->numbers("floatValues", max_property_entries);
    values.bytes = reader->integers<std::uint8_t>("bytesValues", max_property_bytes);
    values.text = reader->text("stringValue").value_or("");
    if (fits(*type_of(prop), values)) return values;
    parent.fault("defaultValue", "does not match the property's type");
    return std::nullopt;
}

template <class T>
void check_limits(const ConfigReader& reader, std::string_view key, T low, T high) {
    if (low > high) reader.fault(key, "is above the upper limit");
}

AreaConfig read_area(const ConfigReader& reader) {
    AreaConfig area;
    if (!reader.has("areaId")) reader.fault("areaId", "is missing");
    area.id = reader.int32("areaId").value_or(0);
    area.min_int32 = reader.int32("minInt32Value").value_or(0);
    area.max_int32 = reader.int32("maxInt32Value").value_or(0);
    constexpr auto low = std::numeric_limits<std::int64_t>::min();
    constexpr auto high = std::numeric_limits<std::int64_t>::max();
    area.min_int64 = reader.integer("minInt64Value", low, high).value_or(0);
    area.max_int64 = reader.integer("maxInt64Value", low, high).value_or(0);
    area.min_float = reader.number("minFloatValue").value_or(0);
    area.max_float = reader.number("maxFloatValue").value_or(0);
    check_limits(reader, "minInt32Value", area.min_int32, area.max_int32);
    check_limits(reader, "minInt64Value", area.min_int64, area.max_int64);
    check_limits(reader, "minFloatValue", area.min_float, area.max_float);
    // The format has these members, the API does not: they are read only to report faults.
    reader.integer("access", 0, 3);
    reader.flag("supportVariableUpdateRate");
    reader.integers<std::int64_t>("supportedEnumValues", max_property_entries);
    return area;
}

void read_areas(const ConfigReader& reader, PropertyDeclaration& declaration) {
    PropertyConfig& config = declaration.config;
    const auto common = read_default(reader, config.prop);
    for (const ConfigReader& area_reader : reader.objects("areas", max_areas)) {
        const AreaConfig area = read_area(area_reader);
        if (!config.areas.empty() && config.has_area(area.id)) area_reader.fault("areaId", "is listed twice");
        config.areas.push_back(area);
        if (auto own = read_default(area_reader, config.prop))
            declaration.initial[area.id] = std::move(*own);
        else if (common)
            declaration.initial[area.id] = *common;
    }
    if (config.areas.empty() && common) declaration.initial[0] = *common;
}

void read_modes(const ConfigReader& reader, PropertyConfig& config) {
    const KnownProperty* known = find_property(config.prop);
    const auto access = reader.integer("access", 0, 3);
    const auto mode = reader.integer("changeMode", 0, 2);
    if (!known && !reader.has("access")) reader.fault("access", "is required for a vendor's property");
    if (!known && !reader.has("changeMode"))
        reader.fault("changeMode", "is required for a vendor's property");
    if (known) {
        config.access = known->access;
        config.change_mode = known->change_mode;
    }
    if (access) config.access = static_cast<PropertyAccess>(*access);
    if (mode) config.change_mode = static_cast<ChangeMode>(*mode);
}

void read_rates(const ConfigReader& reader, PropertyConfig& config) {
    for (const auto* key : {"minSampleRate", "maxSampleRate"})
        if (config.change_mode == ChangeMode::continuous && !reader.has(key))
            reader.fault(key, "is required for a continuous property");
    config.min_rate = reader.number("minSampleRate").value_or(0);
    config.max_rate = reader.number("maxSampleRate").value_or(0);
    if (config.min_rate < 0) reader.fault("minSampleRate", "is out of range");
    check_limits(reader, "minSampleRate", config.min_rate, config.max_rate);
}

// Nothing: the id is faulty, or its name is unknown (then the name is added to `skipped`).
std::optional<PropertyId> read_property_id(const ConfigReader& reader, std::vector<std::string>& skipped) {
    const Json* raw = reader.raw("property");
    if (raw == nullptr) {
        reader.fault("property", "is missing");
        return std::nullopt;
    }
    if (raw->is_string() && raw->as_string().starts_with("VehicleProperty::") &&
        !find_constant(raw->as_string())) {
        skipped.push_back(raw->as_string());
        return std::nullopt;
    }
    const auto number = reader.integer("property", lowest_id, highest_id);
    if (!number) return std::nullopt;
    const auto id = static_cast<PropertyId>(static_cast<std::uint32_t>(*number));
    if (type_of(id) && has_area_type(id)) return id;
    reader.fault("property", "has no known value type or area type");
    return std::nullopt;
}

PropertyDeclaration read_property(const ConfigReader& reader, PropertyId id) {
    PropertyDeclaration declaration;
    PropertyConfig& config = declaration.config;
    config.prop = id;
    read_modes(reader, config);
    read_rates(reader, config);
    config.config_string = reader.text("configString").value_or("");
    config.config_array = reader.integers<std::int32_t>("configArray", max_property_entries);
    read_areas(reader, declaration);
    return declaration;
}

VehicleConfig read_properties(const ConfigReader& root) {
    VehicleConfig config;
    std::set<PropertyId> ids;
    if (root.has("apiVersion")) root.int32("apiVersion");
    for (const ConfigReader& reader : root.objects("properties", max_properties, true)) {
        const auto id = read_property_id(reader, config.skipped);
        if (!id) continue;
        if (!ids.insert(*id).second) reader.fault("property", "is listed twice");
        config.properties.push_back(read_property(reader, *id));
    }
    return config;
}

}  // namespace

VehicleConfig parse_vehicle_config(std::string_view text) {
    const Json document = Json::parse(text);
    if (!document.is_object()) throw Error(ErrorCode::invalid_argument, "the file is not a JSON object");
    std::vector<std::string> faults;
    VehicleConfig config = read_properties(ConfigReader(document, "", faults));
    if (!faults.empty()) throw Error(ErrorCode::invalid_argument, join(faults, "\n"));
    return config;
}

}  // namespace svc::agent
