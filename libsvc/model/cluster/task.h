#pragma once
// Tasks: a read-only view of what is being done for an instance (specification: Task; facts 1.5).
#include <string>

#include "libsvc/base/json.h"
#include "libsvc/model/instances/instance.h"

namespace svc {

// {"id","status","object_id","object_type":"container"}; nothing for a record whose deletion has ended.
Json task_of(const Instance& instance);

}  // namespace svc
