#include "instance-agent/agent/devices/platform/platform_items.h"

#include <algorithm>

#include "instance-agent/agent/devices/request_fields.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::agent {
namespace {

constexpr std::string_view least_bitrate = "stream_video_bitrate_min_kbps";
constexpr std::string_view most_bitrate = "stream_video_bitrate_max_kbps";

[[noreturn]] void refuse_items(const std::string& text) {
    throw Error(ErrorCode::invalid_argument, text);
}

[[noreturn]] void refuse_value(std::string_view name) {
    refuse_items("Invalid value for configuration item " + quoted(name));
}

bool fits(ItemType type, const Json& value) {
    switch (type) {
        case ItemType::boolean:
            return value.is_bool();
        case ItemType::uint32:
            return value.is_integer() && value.as_double() >= 0 && value.as_double() <= UINT32_MAX;
        case ItemType::text:
            return value.is_string();
    }
    return false;
}

const PlatformItem* find_item(const PlatformItems& items, std::string_view name) {
    const auto found =
        std::find_if(items.begin(), items.end(), [&](const PlatformItem& item) { return item.name == name; });
    return found == items.end() ? nullptr : &*found;
}

const PlatformItem& writable_item(const PlatformItems& items, const std::string& name) {
    const PlatformItem* item = find_item(items, name);
    if (item == nullptr) refuse_items("Unknown configuration item " + quoted(name));
    if (!item->writable) refuse_items("Configuration item " + quoted(name) + " is read-only");
    return *item;
}

bool ordered(const PlatformItems& items, const ItemValues& values) {
    const PlatformItem* least = find_item(items, least_bitrate);
    const PlatformItem* most = find_item(items, most_bitrate);
    if (least == nullptr || most == nullptr) return true;
    return value_of(*least, values).as_int() <= value_of(*most, values).as_int();
}

const Json& require_object(const Json& body) {
    if (!body.is_object()) refuse_items("Request body must be an object");
    return body;
}

}  // namespace

PlatformItems items_of_platform(std::string_view name, const BitrateRange& bitrates) {
    if (name != "webrtc" && name != "swrast") return {};
    return {{"rtc_log", ItemType::boolean, true, false},
            {"stream_active", ItemType::boolean, false, false},
            {"clipboard_to_instance", ItemType::boolean, true, true},
            {"clipboard_from_instance", ItemType::boolean, true, true},
            {"files_to_instance", ItemType::boolean, true, true},
            {"files_from_instance", ItemType::boolean, true, true},
            {std::string(least_bitrate), ItemType::uint32, true, bitrates.least},
            {std::string(most_bitrate), ItemType::uint32, true, bitrates.most}};
}

Json value_of(const PlatformItem& item, const ItemValues& values) {
    const auto found = values.find(item.name);
    return found == values.end() ? item.default_value : found->second;
}

ItemValues read_item_changes(const PlatformItems& items, const ItemValues& now, const Json& body) {
    const Json& config = require_field(require_object(body), "config");
    if (!config.is_object()) throw_invalid_field("config");
    if (config.as_object().empty()) refuse_items("No configuration items provided");
    ItemValues changes;
    for (const auto& [name, value] : config.as_object()) {
        if (!fits(writable_item(items, name).type, value)) refuse_value(name);
        changes[name] = value;
    }
    ItemValues merged = changes;
    merged.insert(now.begin(), now.end());
    if (!ordered(items, merged))
        refuse_value(changes.count(std::string(least_bitrate)) != 0 ? least_bitrate : most_bitrate);
    return changes;
}

std::vector<std::string> read_item_resets(const PlatformItems& items, const ItemValues& now,
                                          const Json& body) {
    const Json& names = require_field(require_object(body), "configs");
    if (!names.is_array()) throw_invalid_field("configs");
    if (names.as_array().empty()) refuse_items("No configuration items provided");
    std::vector<std::string> resets;
    ItemValues left = now;
    for (const Json& name : names.as_array()) {
        if (!name.is_string()) throw_invalid_field("configs");
        resets.push_back(writable_item(items, name.as_string()).name);
        left.erase(resets.back());
    }
    if (!ordered(items, left)) refuse_value(resets.back());
    return resets;
}

ItemValues restore_items(const PlatformItems& items, const Json& stored) {
    ItemValues values;
    for (const PlatformItem& item : items) {
        const Json* value = stored.find(item.name);
        if (item.writable && value != nullptr && fits(item.type, *value)) values[item.name] = *value;
    }
    return ordered(items, values) ? values : ItemValues{};
}

}  // namespace svc::agent
