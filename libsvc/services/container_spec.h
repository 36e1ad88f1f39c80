#pragma once
// From the record of an instance to what the runtime is told. Pure.
#include "libsvc/model/instance.h"
#include "libsvc/runtime/runtime.h"

namespace svc {

ContainerSpec container_spec(const Instance& instance, const AgentSession& session);

}  // namespace svc
