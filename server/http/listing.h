#pragma once
// Replies with the items of a collection: URLs or records, all or a page of them. They are rendered into text
// directly, because there may be ten thousand.
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/json.h"
#include "libsvc/model/values/api.h"
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

// The body of a reply whose metadata is a list.
class ListBody {
  public:
    explicit ListBody(std::string empty);               // the body without items
    void add(std::string_view item, std::size_t left);  // JSON text; how many come, with this one
    std::string finish();

  private:
    std::string text_;
    std::string end_;  // what follows the items
    bool has_items_ = false;
};

// The body of a reply: the envelope, within it the items from `begin` to `end`. The text is made once, as it
// is sent, because copies of megabytes cost more than their rendering. `total_size` is told of a page alone.
template <class Items, class Render>
Response sync_items(const Page& page, std::size_t total_size, const Items& items, std::size_t begin,
                    std::size_t end, Render render) {
    ListBody body(page.given ? sync_page_body(Json::array(), total_size) : sync_body(Json::array()));
    for (std::size_t i = begin; i < end; ++i) body.add(Json(render(*items[i])).dump(), end - i);
    return json_response(200, body.finish());
}

// `render(item)` gives the Json of one item.
template <class Items, class Render>
Response sync_list(const Request& request, const Items& items, Render render) {
    const Page page = Page::of(request);
    const std::size_t begin = std::min(page.offset, items.size());
    const std::size_t end = begin + std::min(page.limit, items.size() - begin);
    return sync_items(page, items.size(), items, begin, end, render);
}

// The list of a service. A page costs no more than its own items.
template <class Service, class Render>
Response sync_list_of(const Request& request, const Service& service, Render render) {
    const Page page = Page::of(request);
    if (!page.given) return sync_list(request, service.list(), render);
    const auto window = service.window(page.offset, page.limit);
    return sync_items(page, window.total, window.records, 0, window.records.size(), render);
}

// The items for which `wanted` returns true.
template <class Items, class Wanted>
Items filtered(Items items, const Wanted& wanted) {
    std::erase_if(items, [&wanted](const auto& item) { return !wanted(*item); });
    return items;
}

}  // namespace svc::server
