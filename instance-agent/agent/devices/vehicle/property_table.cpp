#include "instance-agent/agent/devices/vehicle/property_table.h"

#include "instance-agent/agent/devices/vehicle/status_code.h"
#include "libsvc/base/error.h"

namespace svc::agent {

namespace {

constexpr std::size_t max_freeze_frames = 16;

}  // namespace

void check_freeze_frame_request(PropertyId prop, const PropertyValues& with) {
    if (prop == obd2_freeze_frame && with.int64s.empty())
        throw Error(ErrorCode::invalid_argument, "Missing field 'int64_values'");
}

PropertyTable::PropertyTable(std::vector<PropertyDeclaration> declarations) {
    for (PropertyDeclaration& declaration : declarations) {
        const PropertyId prop = declaration.config.prop;
        if (!index_.emplace(prop, configs_.size()).second)
            throw Error(ErrorCode::invalid_argument, "property " + std::to_string(prop) + " is listed twice");
        for (const AreaId area : declaration.config.area_ids()) {
            PropertyValue value{prop, area, PropertyStatus::unavailable, 0, {}};
            const auto initial = declaration.initial.find(area);
            if (initial != declaration.initial.end()) {
                value.status = PropertyStatus::available;
                value.values = initial->second;
            }
            if (!values_.emplace(std::pair(prop, area), std::move(value)).second)
                throw Error(ErrorCode::invalid_argument, "area " + std::to_string(area) + " of property " +
                                                             std::to_string(prop) + " is listed twice");
        }
        configs_.push_back(std::move(declaration.config));
    }
}

const PropertyConfig& PropertyTable::config(PropertyId prop) const {
    const auto found = index_.find(prop);
    if (found == index_.end())
        throw Error(ErrorCode::invalid_argument, "Unknown property " + std::to_string(prop));
    return configs_[found->second];
}

const PropertyConfig& PropertyTable::check_place(PropertyId prop, AreaId area) const {
    const PropertyConfig& found = config(prop);
    check_area(found, area);
    return found;
}

PropertyValue PropertyTable::get(PropertyId prop, AreaId area, const PropertyValues& with) const {
    check_place(prop, area);
    return prop == obd2_freeze_frame ? freeze_frame(with) : values_.at({prop, area});
}

// A value with status unavailable is not checked.
void PropertyTable::check_value(const PropertyValue& value) const {
    const PropertyConfig& found = check_place(value.prop, value.area);
    if (value.status == PropertyStatus::available || value.values != PropertyValues{})
        check_values(found, value.area, value.values);
}

bool PropertyTable::set(PropertyValue value) {
    check_value(value);
    if (value.prop == obd2_freeze_frame) keep_freeze_frame(value);
    if (value.prop == obd2_freeze_frame_clear) clear_freeze_frames(value);
    PropertyValue& kept = values_.at({value.prop, value.area});
    const bool differs = kept.status != value.status || kept.values != value.values;
    kept = std::move(value);
    return differs;
}

PropertyValue PropertyTable::freeze_frame(const PropertyValues& with) const {
    check_freeze_frame_request(obd2_freeze_frame, with);
    const auto found = freeze_frames_.find(with.int64s.front());
    if (found == freeze_frames_.end()) throw_status(StatusCode::not_available);
    return found->second;
}

// Freeze frames are named by their time: that of the frame, else the time at which it came.
void PropertyTable::keep_freeze_frame(PropertyValue frame) {
    const std::int64_t now = frame.timestamp;
    if (!frame.values.int64s.empty()) frame.timestamp = frame.values.int64s.front();
    freeze_frames_[frame.timestamp] = std::move(frame);
    if (freeze_frames_.size() > max_freeze_frames) freeze_frames_.erase(freeze_frames_.begin());
    list_freeze_frames(now);
}

// Clears the frames with these times, or all.
void PropertyTable::clear_freeze_frames(const PropertyValue& request) {
    for (const std::int64_t time : request.values.int64s) freeze_frames_.erase(time);
    if (request.values.int64s.empty()) freeze_frames_.clear();
    list_freeze_frames(request.timestamp);
}

void PropertyTable::list_freeze_frames(std::int64_t now) {
    const auto info = values_.find({obd2_freeze_frame_info, 0});
    if (info == values_.end()) return;
    info->second.status = PropertyStatus::available;
    info->second.timestamp = now;
    info->second.values.int64s.clear();
    for (const auto& [time, frame] : freeze_frames_) info->second.values.int64s.push_back(time);
}

}  // namespace svc::agent
