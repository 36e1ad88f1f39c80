#pragma once
// The user at the other end of a connection of the guest interface.
#include <sys/types.h>

#include <filesystem>

namespace svc::agent {

struct GuestPeer {
    uid_t uid = 0;
    pid_t pid = 0;
    bool may_control = false;  // root, uid 1000, the agent's own user, members of the guest's group `vehicle`
};

// Reads SO_PEERCRED, which the kernel set when the connection was made. `groups` is the guest's /etc/group.
// Throws internal when the kernel gives no credentials.
GuestPeer read_peer(int socket, const std::filesystem::path& groups = "/etc/group");

}  // namespace svc::agent
