#pragma once
// The layout of the state directory, and the lock that keeps it to one daemon:
//   lock  svc.db  blobs/  lxc/ or simulated/  logs/  server/server.{crt,key}  tokens.key
//   registry/client.{crt,key}  events/  agent/server.unix  agent-<random>/server.unix
#include <filesystem>

#include "libsvc/base/file.h"
#include "libsvc/net/tls/tls.h"

namespace svc::server {

class StateDirectory {
  public:
    // Makes the folders. Throws busy when another daemon has it.
    explicit StateDirectory(const std::filesystem::path& root);

    std::filesystem::path database() const { return root_ / "svc.db"; }
    std::filesystem::path blobs() const { return root_ / "blobs"; }
    std::filesystem::path logs() const { return root_ / "logs"; }
    std::filesystem::path runtime(std::string_view name) const { return root_ / name; }
    // The instances' socket. Everybody may use it (mode 0666) who can name it: its folder is root's alone,
    // and each instance gets another one mounted, in which it has a second name. Other users of the host can
    // neither list the folder above that nor guess its name; the kernel shows them the first name.
    std::filesystem::path agent_socket() const { return root_ / "agent" / "server.unix"; }
    const std::filesystem::path& agent_sockets() const { return agent_sockets_; }
    void publish_agent_socket() const;  // once the daemon listens
    std::filesystem::path events() const { return root_ / "events"; }
    std::filesystem::path token_secret() const { return root_ / "tokens.key"; }
    std::filesystem::path registry() const { return root_ / "registry"; }
    KeyPair server_keys() const { return {root_ / "server" / "server.crt", root_ / "server" / "server.key"}; }

  private:
    void settle_agent_sockets();

    std::filesystem::path root_, agent_sockets_;
    FileDescriptor lock_;
};

}  // namespace svc::server
