#pragma once
// Tells which program the instance's first process runs: svc-agent, or the guest's init.
#include <stop_token>

#include "instance-agent/agent/files/paths.h"
#include "libsvc/base/clock.h"

namespace svc::agent {

// Whether the first process still runs svc-agent: then the phase before the guest has not ended.
bool is_first_process_ours(const Paths& paths);

// Waits until the first process runs the guest's own init. Returns false when `stop` was requested before.
bool wait_for_guest(const Paths& paths, Clock& clock, std::stop_token stop);

}  // namespace svc::agent
