#pragma once
// /dev of a container: the few devices that every program may use, and terminals of its own. Throws
// LaunchFailure.
#include <vector>

#include "libsvc/runtime/lxc/launcher/guest_root.h"

namespace svc::lxc {

// `host`: the root folder of the host.
std::vector<Terminal> make_devices(const Plan& plan, int host);

}  // namespace svc::lxc
