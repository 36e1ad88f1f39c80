#pragma once
// The configuration items of a platform, as a table, and the rules for changing them. Plain values: no
// threads.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "instance-agent/shared/bitrate_limits.h"
#include "libsvc/base/json.h"

namespace svc::agent {

enum class ItemType { boolean, uint32, text };

struct PlatformItem {
    std::string name;
    ItemType type = ItemType::boolean;
    bool writable = false;
    Json default_value{};
};

using PlatformItems = std::vector<PlatformItem>;
using ItemValues = std::map<std::string, Json>;  // values of writable items; an absent item has its default

// "webrtc", "swrast" (the same items), "null" (no items). An unknown platform has no items.
PlatformItems items_of_platform(std::string_view name, const BitrateRange& bitrates);

// Reads {"rtc_log": true}: values to set. Throws invalid_argument unless every item may have its value.
ItemValues read_item_changes(const PlatformItems& items, const ItemValues& now, const Json& body);
// Reads {"configs": ["rtc_log"]}: items to reset. Throws invalid_argument.
std::vector<std::string> read_item_resets(const PlatformItems& items, const ItemValues& now,
                                          const Json& body);

Json value_of(const PlatformItem& item, const ItemValues& values);
// The stored values that are still known, writable and of the right type.
ItemValues restore_items(const PlatformItems& items, const Json& stored);

}  // namespace svc::agent
