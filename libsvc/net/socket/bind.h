#pragma once
// Makes sockets that listen, and sockets for datagrams. None of them blocks.
#include <filesystem>
#include <string>

#include "libsvc/base/file.h"

namespace svc::net {

// Replaces the socket file of a server that is gone. Throws busy when a server still answers there, conflict
// for another kind of file. group < 0 leaves the group as it is.
FileDescriptor bind_unix(const std::filesystem::path& path, unsigned mode, int group);
FileDescriptor bind_tcp(const std::string& address);
FileDescriptor bind_udp(const std::string& address);
std::string local_address(int socket);  // "127.0.0.1:8444"

}  // namespace svc::net
