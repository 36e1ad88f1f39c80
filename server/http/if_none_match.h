#pragma once
// If-None-Match: spares a client what it has already.
#include <string_view>

#include "libsvc/net/http/request.h"

namespace svc::server {

// Whether If-None-Match names `etag`, which has its quotes, or is `*`. Weak and strong tags are alike here.
bool is_known(const Request& request, std::string_view etag);

}  // namespace svc::server
