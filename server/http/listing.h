#pragma once
// Replies with the items of a collection: URLs or records, all or a page of them. There may be a hundred
// thousand, so they are rendered into text directly, and piece by piece as the client takes them. The records
// are those of the moment of the request: the reply holds them until it is sent.
#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
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

// What a reply lists. A long list is rendered after its handler has returned, on other threads.
struct ListItems {
    std::size_t count = 0;
    std::function<void(std::string&, std::size_t)> append;  // the JSON text of item number n
    std::size_t held_bytes = 0;                             // that `append` keeps in memory
};
// The envelope with the items; `total_size` is told of a page alone. A list of a few kilobytes is sent whole.
Response list_reply(const Page& page, std::size_t total_size, ListItems items);

// `render(item)` gives the Json of one item, `render(text, item)` appends it. It refers to nothing that ends
// with the handler: the objects of the services may be referred to.
template <class Item, class Render>
ListItems list_items(std::vector<Item> items, Render render) {
    const std::size_t count = items.size();
    auto append = [items = std::move(items), render = std::move(render)](std::string& text, std::size_t n) {
        if constexpr (std::is_invocable_v<Render, std::string&, decltype(*items[n])>)
            render(text, *items[n]);
        else
            text += Json(render(*items[n])).dump();
    };
    return {count, std::move(append), count * sizeof(Item)};
}

template <class Item, class Render>
Response sync_list(const Request& request, std::vector<Item> items, Render render) {
    const Page page = Page::of(request);
    const std::size_t total = items.size();
    const std::size_t begin = std::min(page.offset, total);
    const std::size_t end = begin + std::min(page.limit, total - begin);
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(end), items.end());
    items.erase(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(begin));
    return list_reply(page, total, list_items(std::move(items), std::move(render)));
}

// The list of a service. A page costs no more than its own items.
template <class Service, class Render>
Response sync_list_of(const Request& request, const Service& service, Render render) {
    const Page page = Page::of(request);
    auto window = service.window(page.offset, page.limit);
    return list_reply(page, window.total, list_items(std::move(window.records), std::move(render)));
}

// The items for which `wanted` returns true.
template <class Items, class Wanted>
Items filtered(Items items, const Wanted& wanted) {
    std::erase_if(items, [&wanted](const auto& item) { return !wanted(*item); });
    return items;
}

}  // namespace svc::server
