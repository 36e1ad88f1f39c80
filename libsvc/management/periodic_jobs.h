#pragma once
// The jobs that the service runs at fixed intervals.
#include <vector>

#include "libsvc/base/periodic.h"

namespace svc {

class ManagementService;

// The jobs keep the reference.
std::vector<PeriodicJob> periodic_jobs(ManagementService& service);

}  // namespace svc
