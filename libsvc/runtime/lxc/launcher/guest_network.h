#pragma once
// The network device of a container: a pair of which one end is on the bridge and the other in the container.
// Each function sends all its requests at once. Throws LaunchFailure.
#include <sys/types.h>

#include "libsvc/runtime/lxc/launcher/plan.h"

namespace svc::lxc {

// On the host. The guest's end is made in the network namespace of `process`: to move it there would wait for
// the kernel's grace periods.
void make_device_pair(const GuestNetwork& network, pid_t process);
// Of an init that has ended: the kernel removes it with the network namespace, but later.
void remove_device_pair(const GuestNetwork& network);
// In the container's network namespace, when the pair is made: addresses, route, loopback.
void set_up_guest_device(const GuestNetwork& network);
void set_up_loopback();

}  // namespace svc::lxc
