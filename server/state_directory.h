#pragma once
// The layout of the state directory, and the lock that keeps it to one daemon:
//   lock  svc.db, or manager.id and cluster.id  blobs/  lxc/ or simulated/  logs/  server/server.{crt,key}
//   tokens.key registry/client.{crt,key}  events/  audit-events/  agent/server.unix
//   agent-<random>/server.unix
#include <filesystem>

#include "libsvc/base/file.h"
#include "server/state/paths.h"

namespace svc::server {

class StateDirectory : public StatePaths {
  public:
    // Makes the folders. Throws busy when another daemon has it.
    explicit StateDirectory(const std::filesystem::path& root);

    // What instances get mounted. Other users of the host can neither list the folder above nor guess its
    // name; the kernel shows them agent_socket(), whose folder is root's alone.
    const std::filesystem::path& agent_sockets() const { return agent_sockets_; }
    void publish_agent_socket() const;  // once the daemon listens

  private:
    void settle_agent_sockets();

    std::filesystem::path agent_sockets_;
    FileDescriptor lock_;
};

}  // namespace svc::server
