#pragma once
// Entity tags. If-Match refuses a change when the object is no longer as the client has seen it;
// If-None-Match spares a client what it has already.
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "libsvc/net/http/request.h"
#include "libsvc/net/http/response.h"
#include "libsvc/services/common/precondition.h"
#include "server/http/if_none_match.h"

namespace svc::server {

// Throws precondition_failed "ETag doesn't match: <a> vs <b>" when If-Match is there and names
// neither `etag` nor `*`.
// Tags may be quoted or not, weak or not, one or a comma-separated list.
void check_if_match(const Request& request, std::string_view etag);
// The same as a precondition, checked in the commit that makes the change. `request` outlives it.
Precondition if_match(const Request& request);

// The tag of a list that is made of the records of `records` and of nothing else, or of one of them. It is
// weak: a change while the list is read may be in it already, and is told again. Equal tags mean equal
// records; no tag of another manager or from before a restart is equal.
template <class Collection>
std::string list_tag(const Collection& records) {
    return fmt::format("W/\"{:x}-{:x}\"", records.origin(), records.changes());
}
template <class Collection>
std::string record_tag(const Collection& records, const typename Collection::Revised& record) {
    return fmt::format("W/\"{:x}-{:x}\"", records.origin(), record.revision);
}

// The reply of `make()` with its tag, or 304 without calling it. The tag is asked for before the records.
template <class Make>
Response unless_known(const Request& request, const std::string& etag, Make make) {
    Response response;
    if (is_known(request, etag))
        response.status = 304;
    else
        response = make();
    response.headers.set("ETag", etag);
    response.headers.set("Cache-Control", "private, no-cache");  // asked for each time, sent when it changed
    return response;
}

}  // namespace svc::server
