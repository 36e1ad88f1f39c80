#include "server/http/listing.h"

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

}  // namespace svc::server
