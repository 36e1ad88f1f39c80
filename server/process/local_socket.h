#pragma once
// The folder and the group of the socket of a local API.
#include <filesystem>

namespace svc::process {

int socket_group();  // id of the group "svc", whose members may use the socket; -1 when it is missing, or we
                     // are not root
// Makes the folder so that every user can reach the socket; the mode of the socket decides who may use it.
void make_socket_folder(const std::filesystem::path& socket);

}  // namespace svc::process
