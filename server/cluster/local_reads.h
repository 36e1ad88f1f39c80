#pragma once
// Which requests every manager serves by itself.
#include "libsvc/net/http/request.h"

namespace svc::server {

// Reads whose answer is in the memory of every manager. `request` has its route.
bool is_local_read(const Request& request);
// Those among them that another manager would answer differently, or that stay open: they are never passed
// on.
bool is_own_read(const Request& request);

}  // namespace svc::server
