#pragma once
// The jobs that the service runs at fixed intervals.
#include <vector>

#include "libsvc/base/periodic.h"
#include "libsvc/operations/engine.h"
#include "libsvc/services/common/content.h"
#include "libsvc/services/instances/instance_service.h"
#include "libsvc/services/trust/certificate_service.h"

namespace svc {

struct PeriodicWork {
    Engine& engine;
    InstanceService& instances;
    Content& content;
    CertificateService& certificates;
};

// The jobs keep the references.
std::vector<PeriodicJob> periodic_jobs(const PeriodicWork& work);

}  // namespace svc
