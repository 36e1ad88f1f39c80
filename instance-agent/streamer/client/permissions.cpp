#include "instance-agent/streamer/client/permissions.h"

namespace svc::streamer {

Permissions Permissions::from_items(const JsonFields& items) {
    const auto allowed = [&](std::string_view item) { return items.boolean(item).value_or(true); };
    return {allowed("clipboard_to_instance"), allowed("clipboard_from_instance"),
            allowed("files_to_instance"), allowed("files_from_instance")};
}

}  // namespace svc::streamer
