#pragma once
// The folder of the agent's sockets, and who may enter it.
#include <sys/types.h>

#include <filesystem>

namespace svc::agent {

inline constexpr const char* default_api_socket = "/run/svc/api.unix";
inline constexpr const char* default_guest_socket = "/run/svc/guest.unix";

inline constexpr uid_t instance_user = 1000;  // root and this user may use the control API

// Makes the folder of a socket unless it exists. It belongs to the instance's user and has mode 0751:
// programs of every user reach the guest interface, only root and the user can list the folder.
void prepare_socket_folder(const std::filesystem::path& folder);

// Gives the file to uid and gid 1000. Does nothing unless the agent runs as root.
void give_to_user(const std::filesystem::path& file);

// Makes the link /run/user/1000/svc-agent/sockets (below `run`) to `folder`, for commands that look there. A
// file of user 1000 in its place stays. Does nothing unless the agent runs as root.
void link_for_user(const std::filesystem::path& folder, const std::filesystem::path& run = "/run");

}  // namespace svc::agent
