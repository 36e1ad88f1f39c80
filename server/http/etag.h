#pragma once
// If-Match: refuses a change when the object is no longer as the client has seen it.
#include <string_view>

#include "libsvc/net/http/request.h"
#include "libsvc/services/common/precondition.h"

namespace svc::server {

// Throws precondition_failed "ETag doesn't match: <a> vs <b>" when If-Match is there and names
// neither `etag` nor `*`.
// Tags may be quoted or not, weak or not, one or a comma-separated list.
void check_if_match(const Request& request, std::string_view etag);
// The same as a precondition, checked in the commit that makes the change. `request` outlives it.
Precondition if_match(const Request& request);

}  // namespace svc::server
