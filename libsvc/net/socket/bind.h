#pragma once
// Listening sockets, and one for datagrams; not blocking.
#include <filesystem>
#include <string>

#include "libsvc/base/file.h"

namespace svc::net {

// A stale socket file is replaced; one that answers is `busy`, another kind of file `conflict`. group < 0
// leaves the group alone.
FileDescriptor bind_unix(const std::filesystem::path& path, unsigned mode, int group);
FileDescriptor bind_tcp(const std::string& address);
FileDescriptor bind_udp(const std::string& address);
std::string local_address(int socket);  // "127.0.0.1:8444"

}  // namespace svc::net
