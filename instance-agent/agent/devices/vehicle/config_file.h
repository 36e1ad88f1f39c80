#pragma once
// The configuration file of Android's reference vehicle HAL (docs/vehicle.md).
#include "instance-agent/agent/devices/vehicle/property.h"

namespace svc::agent {

inline constexpr std::size_t max_config_file = 4U << 20;  // bytes
inline constexpr std::size_t max_properties = 4096;
inline constexpr std::size_t max_areas = 256;  // areas of one property

struct VehicleConfig {
    std::vector<PropertyDeclaration> properties;
    std::vector<std::string> skipped;  // names that the built-in table lacks: "VehicleProperty::NAME"
};

// Throws invalid_argument with all faults of the file, one a line: "properties[3].areas[0].areaId is
// missing".
VehicleConfig parse_vehicle_config(std::string_view text);

// The configuration of an automotive image that has no file.
std::string_view default_properties();

}  // namespace svc::agent
