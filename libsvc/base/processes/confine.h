#pragma once
// What a confined child does between clone and exec. Used by spawn.cpp alone.
#include <sched.h>

#include "libsvc/base/processes/process.h"

namespace svc {

// Flags of the clone that makes a confined child.
constexpr int confinement_namespaces = CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC;

// Gives up the rights of the calling process and limits it. In the child, on the parent's memory: system
// calls only. False, with errno: a part failed, and the process is not to go on.
bool confine(const Confinement& confinement);

}  // namespace svc
