#pragma once
// Names of vehicle properties and of the constants that a configuration file may use for numbers. The tables
// are texts that are parsed at the first look-up. Thread-safe.
#include "instance-agent/agent/devices/vehicle/property.h"

namespace svc::agent {

struct KnownProperty {
    std::string_view name;
    PropertyId id;
    PropertyAccess access;
    ChangeMode change_mode;
};
const KnownProperty* find_property(std::string_view name);  // "INFO_VIN"; null pointer: unknown
const KnownProperty* find_property(PropertyId id);

// "VehicleUnit::CELSIUS", "Constants::HVAC_LEFT", "VehicleProperty::INFO_VIN". Nothing: unknown.
std::optional<std::int32_t> find_constant(std::string_view text);

}  // namespace svc::agent
