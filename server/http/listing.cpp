#include "server/http/listing.h"

#include <utility>

#include "server/http/query.h"

namespace svc::server {

Page Page::of(const Request& request) {
    Page page;
    const std::string offset = request.query_value("offset");
    const std::string limit = request.query_value("limit");
    page.given = !offset.empty() || !limit.empty();
    if (!offset.empty()) page.offset = count_of_query(offset, "offset");
    if (!limit.empty() && limit != "-1") page.limit = count_of_query(limit, "limit");
    return page;
}

ListBody::ListBody(std::string empty) : text_(std::move(empty)) {
    const std::size_t items = text_.rfind("[]") + 1;
    end_ = text_.substr(items);
    text_.resize(items);
}

void ListBody::add(std::string_view item, std::size_t left) {
    if (has_items_)
        text_ += ',';
    else
        text_.reserve(text_.size() + left * (item.size() + item.size() / 8) + end_.size());
    text_ += item;
    has_items_ = true;
}

std::string ListBody::finish() {
    text_ += end_;
    text_ += '\n';
    return std::move(text_);
}

}  // namespace svc::server
