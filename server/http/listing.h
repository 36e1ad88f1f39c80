#pragma once
// Replies with the items of a collection: URLs or records, all or a page of them. They are rendered into text
// directly, because there may be ten thousand.
#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "libsvc/base/json.h"
#include "libsvc/net/http/request.h"
#include "libsvc/net/http/response.h"
#include "server/http/response.h"

namespace svc::server {

// ?offset and ?limit. When one of them is given, the reply has `total_size`.
struct Page {
    std::size_t offset = 0;
    std::size_t limit = static_cast<std::size_t>(-1);
    bool given = false;
    static Page of(const Request& request);  // throws invalid_argument; a limit of -1: no limit
};

template <class Items, class Render>
std::string rendered(const Items& items, std::size_t begin, std::size_t end, Render render) {
    std::string text = "[";
    for (std::size_t i = begin; i < end; ++i) {
        if (text.size() > 1) text += ',';
        text += Json(render(*items[i])).dump();
    }
    text += ']';
    return text;
}

// `render(item)` gives the Json of one item.
template <class Items, class Render>
Response sync_list(const Request& request, const Items& items, Render render) {
    const Page page = Page::of(request);
    const std::size_t begin = std::min(page.offset, items.size());
    const std::size_t end = begin + std::min(page.limit, items.size() - begin);
    std::string text = rendered(items, begin, end, render);
    return page.given ? sync_page(std::move(text), items.size()) : sync_rendered(std::move(text));
}

// The list of a service. A page costs no more than its own items.
template <class Service, class Render>
Response sync_list_of(const Request& request, const Service& service, Render render) {
    const Page page = Page::of(request);
    if (!page.given) return sync_list(request, service.list(), render);
    const auto window = service.window(page.offset, page.limit);
    return sync_page(rendered(window.records, 0, window.records.size(), render), window.total);
}

// The items for which `wanted` returns true.
template <class Items, class Wanted>
Items filtered(Items items, const Wanted& wanted) {
    std::erase_if(items, [&wanted](const auto& item) { return !wanted(*item); });
    return items;
}

}  // namespace svc::server
