#pragma once
// The nouns of which several objects can be deleted by one request.
#include <vector>

#include "libsvc/services/applications/application_service.h"
#include "libsvc/services/common/bulk_deletion.h"
#include "libsvc/services/instances/instance_service.h"

namespace svc {

// "applications", "containers", "instances". The references are kept in the result.
std::vector<BulkKind> bulk_kinds(ApplicationService& applications, InstanceService& instances);

}  // namespace svc
