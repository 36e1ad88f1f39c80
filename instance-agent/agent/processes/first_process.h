#pragma once
#include <stop_token>

#include "instance-agent/agent/paths.h"
#include "libsvc/base/clock.h"

namespace svc::agent {

// Whether the first process of the instance is this very program, which has not become the guest yet.
bool is_first_process_ours(const Paths& paths);

// Returns when the guest's own init is the first process; false when `stop` was requested.
bool wait_for_guest(const Paths& paths, Clock& clock, std::stop_token stop);

}  // namespace svc::agent
