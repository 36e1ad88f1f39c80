#pragma once
// What a launch has for a guest that was booted before: a host name, and user data (docs/pool.md).
#include "libsvc/model/instances/instance.h"
#include "libsvc/runtime/runtime.h"

namespace svc {

// Runs `svc-agent take-over` in the container, which gives the guest the name and the user data of the
// record. Repeatable. Throws internal with what the command says, unavailable when it does not end within 10
// s, and what Runtime::exec() throws.
void tell_guest(Runtime& runtime, const Instance& instance);

}  // namespace svc
