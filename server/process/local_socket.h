#pragma once
// Where the local API's socket lies, and who may use it.
#include <filesystem>

namespace svc::process {

int socket_group();  // "svc", whose members may use it; -1 where it is missing, or when we are not root
// Others must reach the socket, whose own mode says who may use it.
void make_socket_folder(const std::filesystem::path& socket);

}  // namespace svc::process
