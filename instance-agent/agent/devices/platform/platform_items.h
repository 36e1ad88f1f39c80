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
using ItemValues = std::map<std::string, Json>;  // of writable items; absent ones have their default

// "webrtc", "swrast" (another name for it), "null": the last one has none, nor have unknown ones.
PlatformItems items_of_platform(std::string_view name, const BitrateRange& bitrates);

// {"rtc_log": true}: what is to be merged. Throws invalid_argument unless all of it may be set to this.
ItemValues read_item_changes(const PlatformItems& items, const ItemValues& now, const Json& body);
// {"configs": ["rtc_log"]}: the names to be reset. Throws invalid_argument.
std::vector<std::string> read_item_resets(const PlatformItems& items, const ItemValues& now,
                                          const Json& body);

Json value_of(const PlatformItem& item, const ItemValues& values);
// What is left of stored values: known, writable and of the right type.
ItemValues restore_items(const PlatformItems& items, const Json& stored);

}  // namespace svc::agent
