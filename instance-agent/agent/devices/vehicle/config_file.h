#pragma once
// The configuration file of Android's reference vehicle HAL (docs/vehicle.md).
#include "instance-agent/agent/devices/vehicle/property.h"

namespace svc::agent {

inline constexpr std::size_t max_config_file = 4U << 20;  // bytes
inline constexpr std::size_t max_properties = 4096;
inline constexpr std::size_t max_areas = 256;  // of one property

struct VehicleConfig {
    std::vector<PropertyDeclaration> properties;
    std::vector<std::string> skipped;  // "VehicleProperty::NAME" that the built-in table does not know
};

// Throws invalid_argument with every fault of the file, a line each: "properties[3].areas[0].areaId is
// missing".
VehicleConfig parse_vehicle_config(std::string_view text);

// The properties an automotive image has without a file.
std::string_view default_properties();

}  // namespace svc::agent
