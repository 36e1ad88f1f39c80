#pragma once
// If-Match: a change is refused when the object is no longer what its client has seen.
#include <string_view>

#include "libsvc/net/http/request.h"
#include "libsvc/services/common/precondition.h"

namespace svc::server {

// Throws precondition_failed "ETag doesn't match: <a> vs <b>" when If-Match is there and names neither `etag`
// nor
// `*`. Tags may be quoted or not, weak or not, one or a comma-separated list.
void check_if_match(const Request& request, std::string_view etag);
// The same in the step that makes the change. `request` must stay.
Precondition if_match(const Request& request);

}  // namespace svc::server
