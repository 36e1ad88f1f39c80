#pragma once
// Objects whose stored record cannot be read: a GET or PATCH of one tells why, its DELETE removes the record.
#include <vector>

#include "libsvc/net/http/router.h"
#include "server/routes/services.h"

namespace svc::server {

// Puts this in front of the handlers of single objects.
void guard_unreadable(std::vector<Route>& routes, const Services& services);

}  // namespace svc::server
