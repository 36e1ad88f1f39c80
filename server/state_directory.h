#pragma once
// The layout of the state directory, and the lock that keeps it to one daemon:
//   lock  svc.db  blobs/  lxc/ or simulated/  logs/  server/server.{crt,key}  agent/server.unix  tokens.key
//   registry/client.{crt,key}  events/
#include <filesystem>

#include "libsvc/base/file.h"
#include "libsvc/net/tls/tls.h"

namespace svc::server {

class StateDirectory {
  public:
    // Makes the folders (mode 0700; 0711 for the instances' socket). Throws busy when another daemon has it.
    explicit StateDirectory(const std::filesystem::path& root);

    std::filesystem::path database() const { return root_ / "svc.db"; }
    std::filesystem::path blobs() const { return root_ / "blobs"; }
    std::filesystem::path logs() const { return root_ / "logs"; }
    std::filesystem::path runtime(std::string_view name) const { return root_ / name; }
    std::filesystem::path agent_sockets() const { return root_ / "agent"; }
    std::filesystem::path events() const { return root_ / "events"; }
    std::filesystem::path token_secret() const { return root_ / "tokens.key"; }
    std::filesystem::path registry() const { return root_ / "registry"; }
    KeyPair server_keys() const { return {root_ / "server" / "server.crt", root_ / "server" / "server.key"}; }

  private:
    std::filesystem::path root_;
    FileDescriptor lock_;
};

}  // namespace svc::server
