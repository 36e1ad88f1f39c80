#pragma once
// The properties of one vehicle and their present values, in memory.
#include <unordered_map>

#include "instance-agent/agent/devices/vehicle/property.h"

namespace svc::agent {

// One thread at a time.
class PropertyTable {
  public:
    // Throws invalid_argument when a property or an area is declared twice.
    explicit PropertyTable(std::vector<PropertyDeclaration> declarations);

    const std::vector<PropertyConfig>& configs() const {
        return configs_;
    }                                                     // in the order of their declaration
    const PropertyConfig& config(PropertyId prop) const;  // throws "Unknown property 1"
    // Throws invalid_argument for an unknown property or area.
    const PropertyConfig& check_place(PropertyId prop, AreaId area) const;

    // `with`: arguments of a property that is read by arguments (the time of a freeze frame). Throws
    // invalid_argument for an unknown property or area, `unavailable` for an unknown freeze frame.
    PropertyValue get(PropertyId prop, AreaId area, const PropertyValues& with) const;
    // The stored value of a property and area that exist.
    bool has_place(PropertyId prop, AreaId area) const { return values_.contains({prop, area}); }
    const PropertyValue& peek(PropertyId prop, AreaId area) const { return values_.at({prop, area}); }
    // Throws what set() would throw.
    void check_value(const PropertyValue& value) const;
    // Stores the whole value or throws invalid_argument: unknown property or area, or a value that does not
    // fit. True: the value differs from the one before.
    bool set(PropertyValue value);

  private:
    using Values = std::map<std::pair<PropertyId, AreaId>, PropertyValue>;

    PropertyValue freeze_frame(const PropertyValues& with) const;
    void keep_freeze_frame(PropertyValue frame);
    void clear_freeze_frames(const PropertyValue& request);
    void list_freeze_frames(std::int64_t now);

    std::vector<PropertyConfig> configs_;
    std::unordered_map<PropertyId, std::size_t> index_;  // into configs_
    Values values_;
    std::map<std::int64_t, PropertyValue> freeze_frames_;  // by time
};

// Throws invalid_argument "Missing field 'int64_values'" when a freeze frame is asked for without its time.
void check_freeze_frame_request(PropertyId prop, const PropertyValues& with);

}  // namespace svc::agent
