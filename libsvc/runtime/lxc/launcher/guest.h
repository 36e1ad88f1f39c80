#pragma once
// The first process of a container, from its creation until init is executed.
#include <sys/types.h>

#include <string>
#include <vector>

#include "libsvc/runtime/lxc/launcher/guest_root.h"
#include "libsvc/runtime/lxc/launcher/plan.h"
#include "libsvc/runtime/lxc/launcher/restrictions.h"

namespace svc::lxc {

// What the monitor has done for the guest; the guest waits for each.
enum class GuestStep : char { ids = 'i', network = 'n', groups = 'g' };

struct GuestStart {
    const Plan& plan;
    const Restrictions& restrictions;
    bool agent = false;                // starts svc-agent too, as a child of init
    std::vector<std::string> command;  // instead of the plan's init; empty: none
};

// Over the socket: takes the steps, then sends the descriptors of its terminals, then a byte of the agent's
// with its credentials; a text where something fails. The socket is closed when init and the agent have been
// executed.
[[noreturn]] void be_guest(const GuestStart& start, int socket);

// After a process has become one of the container's user namespace. Throws LaunchFailure.
void become_root();

constexpr const char* agent_program = "/var/lib/svc-agent/bin/svc-agent";
// In the container, as its root. Over the socket: a byte with its credentials; then a second one, or a text,
// where it was not executed.
[[noreturn]] void be_agent(const Restrictions& restrictions, int socket);

}  // namespace svc::lxc
