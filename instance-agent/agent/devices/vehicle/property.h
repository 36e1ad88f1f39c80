#pragma once
// Vehicle properties as data: the layout of their ids, their configuration and values, and the rules for
// values (docs/vehicle.md). Plain values: no threads.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace svc::agent {

using PropertyId = std::int32_t;  // vendor ids above 0x7fffffff are negative
using AreaId = std::int32_t;

enum class PropertyAccess { none, read, write, read_write };  // for clients to read; not enforced
enum class ChangeMode { fixed, on_change, continuous };
enum class PropertyStatus { available, unavailable, error };

// Bits 16 to 23 of an id.
enum class PropertyType : std::int32_t {
    string = 0x00100000,
    boolean = 0x00200000,
    int32 = 0x00400000,
    int32_vector = 0x00410000,
    int64 = 0x00500000,
    int64_vector = 0x00510000,
    real = 0x00600000,  // one float
    real_vector = 0x00610000,
    bytes = 0x00700000,
    mixed = 0x00e00000,
};
std::optional<PropertyType> type_of(PropertyId id);  // nothing: the bits name no type
bool has_area_type(PropertyId id);                   // bits 24 to 27 name an area type

inline constexpr PropertyId obd2_freeze_frame = 0x11e00d01;
inline constexpr PropertyId obd2_freeze_frame_info = 0x11e00d02;
inline constexpr PropertyId obd2_freeze_frame_clear = 0x11e00d03;

// The type of the property says which field is used; only `mixed` properties use several.
struct PropertyValues {
    std::vector<std::int32_t> int32s;  // and booleans
    std::vector<std::int64_t> int64s;
    std::vector<float> floats;
    std::vector<std::uint8_t> bytes;
    std::string text;
    bool operator==(const PropertyValues&) const = default;
};
// Limits of one value: entries of a vector, and bytes of a text or of `bytes`.
inline constexpr std::size_t max_property_entries = 8192;
inline constexpr std::size_t max_property_bytes = 32768;

struct PropertyValue {
    PropertyId prop = 0;
    AreaId area = 0;
    PropertyStatus status = PropertyStatus::available;
    std::int64_t timestamp = 0;  // when it was set, in nanoseconds since boot; 0: never
    PropertyValues values;
    bool operator==(const PropertyValue&) const = default;
};

// A pair of limits applies when the two differ.
struct AreaConfig {
    AreaId id = 0;
    std::int32_t min_int32 = 0, max_int32 = 0;
    std::int64_t min_int64 = 0, max_int64 = 0;
    float min_float = 0, max_float = 0;
    bool operator==(const AreaConfig&) const = default;
};

struct PropertyConfig {
    PropertyId prop = 0;
    PropertyAccess access = PropertyAccess::none;
    ChangeMode change_mode = ChangeMode::fixed;
    std::vector<std::int32_t> config_array{};
    std::string config_string{};
    float min_rate = 0, max_rate = 0;  // Hz; for continuous properties
    std::vector<AreaConfig> areas{};   // empty: area 0 alone, without limits
    bool operator==(const PropertyConfig&) const = default;
    bool has_area(AreaId area) const;
    std::vector<AreaId> area_ids() const;  // never empty
};

// A property as a configuration declares it. An area without an initial value is unavailable until it is set.
struct PropertyDeclaration {
    PropertyConfig config;
    std::map<AreaId, PropertyValues> initial;
};

// Whether the fields and their lengths are those of `type`.
bool fits(PropertyType type, const PropertyValues& values);
// Throws invalid_argument: "Unknown area ...", "Value type does not match property type", "Value out of
// range".
void check_area(const PropertyConfig& config, AreaId area);
void check_values(const PropertyConfig& config, AreaId area, const PropertyValues& values);

}  // namespace svc::agent
