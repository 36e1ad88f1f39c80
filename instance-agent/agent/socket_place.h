#pragma once
// Where the agent's sockets lie, and who may get there.
#include <sys/types.h>

#include <filesystem>

namespace svc::agent {

inline constexpr uid_t instance_user = 1000;  // with root, who may use the control API

// Makes the folder of a socket unless it is there: the user's, 0751, so that programs of any user reach the
// guest interface in it and only root and the user see what else it holds.
void prepare_socket_folder(const std::filesystem::path& folder);

// Root gives the file to uid and gid 1000; nobody else can, then nothing happens.
void give_to_user(const std::filesystem::path& file);

// Makes /run/user/1000/svc-agent/sockets (below `run`) lead to `folder`, where documented commands look. What
// user 1000 put in the way stays. Does nothing unless we are root.
void link_for_user(const std::filesystem::path& folder, const std::filesystem::path& run = "/run");

}  // namespace svc::agent
