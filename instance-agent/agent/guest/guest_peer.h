#pragma once
// Who is at the other end of a connection of the guest interface.
#include <sys/types.h>

#include <filesystem>

namespace svc::agent {

struct GuestPeer {
    uid_t uid = 0;
    pid_t pid = 0;
    bool may_control = false;  // root, uid 1000, who runs the agent, or of the guest's group `vehicle`
};

// As the kernel noted it when the connection was made. `groups` is the guest's list of groups.
// Throws internal when it cannot be told.
GuestPeer read_peer(int socket, const std::filesystem::path& groups = "/etc/group");

}  // namespace svc::agent
