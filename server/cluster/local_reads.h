#pragma once
// Which requests every manager serves by itself.
#include "libsvc/net/http/request.h"

namespace svc::server {

// Reads whose answer is in the memory of every manager. `request` has its route.
bool is_local_read(const Request& request);

}  // namespace svc::server
