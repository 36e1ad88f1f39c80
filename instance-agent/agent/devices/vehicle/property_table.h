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

    const std::vector<PropertyConfig>& configs() const { return configs_; }  // as they were declared
    const PropertyConfig& config(PropertyId prop) const;                     // throws "Unknown property 1"
    // Throws for an unknown property or area.
    const PropertyConfig& check_place(PropertyId prop, AreaId area) const;

    // `with`: what the property asks for to be read. Throws for a place that is none; `unavailable` for a
    // freeze frame that is none.
    PropertyValue get(PropertyId prop, AreaId area, const PropertyValues& with) const;
    // What is kept for a place, without asking for anything; only for places that are there.
    bool has_place(PropertyId prop, AreaId area) const { return values_.contains({prop, area}); }
    const PropertyValue& peek(PropertyId prop, AreaId area) const { return values_.at({prop, area}); }
    // Throws what set() would throw.
    void check_value(const PropertyValue& value) const;
    // The whole value or nothing: throws for a place that is none and for a value that does not fit. True: it
    // differs from the one before.
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
    std::map<std::int64_t, PropertyValue> freeze_frames_;  // by their time
};

// Throws invalid_argument "Missing field 'int64_values'" when a freeze frame is asked for without its time.
void check_freeze_frame_request(PropertyId prop, const PropertyValues& with);

}  // namespace svc::agent
