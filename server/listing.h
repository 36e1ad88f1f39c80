#pragma once
// Collection answers: URLs or whole records, rendered straight into text because there may be ten thousand.
#include <string>
#include <string_view>

#include "libsvc/base/json.h"
#include "libsvc/net/response.h"
#include "server/response.h"

namespace svc::server {

// `render(item)` gives the Json of one item.
template <class Items, class Render>
Response sync_list(const Items& items, Render render) {
    std::string text = "[";
    for (const auto& item : items) {
        if (text.size() > 1) text += ',';
        text += Json(render(*item)).dump();
    }
    return sync_rendered(std::move(text += ']'));
}

}  // namespace svc::server
