#pragma once
// Tasks: a read-only view of instances (specification: Task; docs/management.md, "Tasks").
#include <string>

#include "libsvc/base/json.h"
#include "libsvc/model/instances/instance.h"

namespace svc {

// {"id","status","object_id","object_type":"container"}; null for a record without a task.
Json task_of(const Instance& instance);

}  // namespace svc
