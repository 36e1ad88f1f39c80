#pragma once
// The services that an instance is told to use by what it is launched with. Pure.
#include <vector>

#include "libsvc/model/instances/instance.h"
#include "libsvc/runtime/runtime.h"

namespace svc {

// The collector of its stream metrics (config.metrics_server), and the stream gateway that the user data
// names (docs/streaming.md). Those that are told by name are left out.
std::vector<ToldService> told_services(const Instance& instance);

}  // namespace svc
