#pragma once
// A process that enters a running container. Throws LaunchFailure.
#include <sys/types.h>

#include <functional>

#include "libsvc/runtime/lxc/launcher/descriptor.h"
#include "libsvc/runtime/lxc/launcher/plan.h"

namespace svc::lxc {

// Runs `prepare` and then `body` in the container of that init (a pidfd): in its control groups and
// namespaces, as its root, with a session keyring of its own. The process is a child of this one, which stays
// outside. What `prepare` throws is thrown here. Returns the pid. One of the two applies the restrictions.
pid_t enter_container(const Plan& plan, const Descriptor& init, const std::function<void()>& prepare,
                      const std::function<void()>& body);

}  // namespace svc::lxc
