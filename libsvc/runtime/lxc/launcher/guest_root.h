#pragma once
// The root file system as the guest sees it. Runs in the namespaces of the container, as its root, before
// init is executed. Throws LaunchFailure.
#include <array>
#include <vector>

#include "libsvc/runtime/lxc/launcher/descriptor.h"
#include "libsvc/runtime/lxc/launcher/plan.h"

namespace svc::lxc {

// The ends of terminals that the monitor keeps: the console first, then /dev/tty1 and so on. The guest's end
// stays open too, so that nobody inside ends a terminal by closing it.
struct Terminal {
    Descriptor master, slave;
};

// Makes the plan's root file system the root, with /proc, /sys, /dev and the plan's mounts, and lets go of
// the host's.
std::vector<Terminal> enter_root(const Plan& plan);

// For a machine with version 2 alone, after the process has a namespace of control groups. Those of version 1
// a guest mounts itself, as with liblxc.
void mount_groups();

}  // namespace svc::lxc
