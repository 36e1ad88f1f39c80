#pragma once
// The table of periodic jobs.
#include <vector>

#include "libsvc/base/periodic.h"
#include "server/routes/services.h"

namespace svc::server {

std::vector<PeriodicJob> periodic_jobs(const Services& services, Content& content);

}  // namespace svc::server
