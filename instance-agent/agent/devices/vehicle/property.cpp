#include "instance-agent/agent/devices/vehicle/property.h"

#include <algorithm>
#include <array>

#include "libsvc/base/error.h"

namespace svc::agent {

namespace {

struct Lengths {
    std::size_t int32s, int64s, floats, bytes, text;
};

// Lengths that `type` does not fix may be any.
Lengths expected_lengths(PropertyType type, const Lengths& given) {
    switch (type) {
        case PropertyType::string:
            return {0, 0, 0, 0, given.text};
        case PropertyType::boolean:
        case PropertyType::int32:
            return {1, 0, 0, 0, 0};
        case PropertyType::int32_vector:
            return {given.int32s, 0, 0, 0, 0};
        case PropertyType::int64:
            return {0, 1, 0, 0, 0};
        case PropertyType::int64_vector:
            return {0, given.int64s, 0, 0, 0};
        case PropertyType::real:
            return {0, 0, 1, 0, 0};
        case PropertyType::real_vector:
            return {0, 0, given.floats, 0, 0};
        case PropertyType::bytes:
            return {0, 0, 0, given.bytes, 0};
        case PropertyType::mixed:
            break;
    }
    return given;
}

template <class T>
bool within(T value, T low, T high) {
    return low == high || (value >= low && value <= high);
}

bool in_range(PropertyType type, const AreaConfig& area, const PropertyValues& values) {
    if (type == PropertyType::int32) return within(values.int32s.front(), area.min_int32, area.max_int32);
    if (type == PropertyType::int64) return within(values.int64s.front(), area.min_int64, area.max_int64);
    if (type == PropertyType::real) return within(values.floats.front(), area.min_float, area.max_float);
    return true;
}

auto find_area(const PropertyConfig& config, AreaId area) {
    return std::find_if(config.areas.begin(), config.areas.end(),
                        [area](const AreaConfig& candidate) { return candidate.id == area; });
}

[[noreturn]] void throw_bad_value(const std::string& text) {
    throw Error(ErrorCode::invalid_argument, text);
}

}  // namespace

std::optional<PropertyType> type_of(PropertyId id) {
    static constexpr std::array types = {
        PropertyType::string, PropertyType::boolean,      PropertyType::int32, PropertyType::int32_vector,
        PropertyType::int64,  PropertyType::int64_vector, PropertyType::real,  PropertyType::real_vector,
        PropertyType::bytes,  PropertyType::mixed};
    const auto type = static_cast<PropertyType>(id & 0x00ff0000);
    if (std::find(types.begin(), types.end(), type) == types.end()) return std::nullopt;
    return type;
}

bool has_area_type(PropertyId id) {
    const int area = (id >> 24) & 0xf;
    return area == 1 || (area >= 3 && area <= 8);
}

bool PropertyConfig::has_area(AreaId area) const {
    return areas.empty() ? area == 0 : find_area(*this, area) != areas.end();
}

std::vector<AreaId> PropertyConfig::area_ids() const {
    if (areas.empty()) return {0};
    std::vector<AreaId> ids;
    for (const AreaConfig& area : areas) ids.push_back(area.id);
    return ids;
}

bool fits(PropertyType type, const PropertyValues& values) {
    const Lengths given{values.int32s.size(), values.int64s.size(), values.floats.size(), values.bytes.size(),
                        values.text.size()};
    const Lengths wanted = expected_lengths(type, given);
    return given.int32s == wanted.int32s && given.int64s == wanted.int64s && given.floats == wanted.floats &&
           given.bytes == wanted.bytes && given.text == wanted.text;
}

void check_area(const PropertyConfig& config, AreaId area) {
    if (!config.has_area(area))
        throw_bad_value("Unknown area " + std::to_string(area) + " for property " +
                        std::to_string(config.prop));
}

void check_values(const PropertyConfig& config, AreaId area, const PropertyValues& values) {
    check_area(config, area);
    const auto type = type_of(config.prop);
    if (!type || !fits(*type, values)) throw_bad_value("Value type does not match property type");
    const bool is_flag = type == PropertyType::boolean;
    if (is_flag && values.int32s.front() != 0 && values.int32s.front() != 1)
        throw_bad_value("Value out of range");
    const auto limits = find_area(config, area);
    if (limits != config.areas.end() && !in_range(*type, *limits, values))
        throw_bad_value("Value out of range");
}

}  // namespace svc::agent
