#pragma once
// The cookies of a request.
#include <string>
#include <string_view>

#include "libsvc/net/http/request.h"

namespace svc::server {

// The value of the first cookie of this name; "" where there is none, and for requests that did not come by
// the API's TLS listener: cookies count nowhere else.
std::string cookie_of(const Request& request, std::string_view name);

}  // namespace svc::server
