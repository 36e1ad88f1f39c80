#pragma once
// One run of a container's init: makes its namespaces and leads its first process until init is executed.
// Throws LaunchFailure; then nothing of it runs.
#include <sys/types.h>

#include "libsvc/runtime/lxc/launcher/guest.h"

namespace svc::lxc {

struct Boot {
    pid_t init = 0;
    pid_t agent = 0;                    // 0: not wanted, or not executed
    Descriptor process;                 // pidfd of init
    std::vector<Descriptor> terminals;  // pairs of master and slave; the console first
};

Boot boot(const GuestStart& start, const std::string& name);

// The plan's limits, for a process of this machine's root: init has them, and what enters the container
// later.
void limit_resources(const Plan& plan, pid_t process);

}  // namespace svc::lxc
