#pragma once
// The layout of a state directory.
#include <filesystem>
#include <string_view>

#include "libsvc/net/tls/tls.h"

namespace svc::server {

// Where what lies; touches nothing.
class StatePaths {
  public:
    explicit StatePaths(const std::filesystem::path& root) : root_(std::filesystem::absolute(root)) {}

    const std::filesystem::path& root() const { return root_; }
    std::filesystem::path database() const { return root_ / "svc.db"; }
    // There while svcd recover replaces the database: until it has ended, none can be used.
    std::filesystem::path recovering() const { return root_ / "recovering"; }
    std::filesystem::path blobs() const { return root_ / "blobs"; }
    std::filesystem::path logs() const { return root_ / "logs"; }
    std::filesystem::path runtime(std::string_view name) const { return root_ / name; }
    // The instances' socket. Everybody who can name it may use it (mode 0666).
    std::filesystem::path agent_socket() const { return root_ / "agent" / "server.unix"; }
    std::filesystem::path events() const { return root_ / "events"; }
    std::filesystem::path audit_events() const { return root_ / "audit-events"; }
    std::filesystem::path audit() const { return root_ / "audit.log"; }
    std::filesystem::path audit_of_strangers() const { return root_ / "audit.strangers.log"; }
    // Of the store in etcd: the random name of this state directory there.
    std::filesystem::path manager_id() const { return root_ / "manager.id"; }
    // Of the store in etcd: the cluster that the records belong to. There is no svc.db beside it.
    std::filesystem::path cluster_id() const { return root_ / "cluster.id"; }
    // Of the runtime lxd: as what its LXD was made a member of a cluster, or is about to be.
    std::filesystem::path lxd_member() const { return root_ / "lxd-member"; }
    // Of a manager among several: the newest leader that this machine has worked for; packages on their way.
    std::filesystem::path term() const { return root_ / "term"; }
    std::filesystem::path node_packages() const { return root_ / "node-packages"; }
    std::filesystem::path token_secret() const { return root_ / "tokens.key"; }
    std::filesystem::path registry() const { return root_ / "registry"; }
    KeyPair server_keys() const { return {root_ / "server" / "server.crt", root_ / "server" / "server.key"}; }
    KeyPair registry_keys() const { return {registry() / "client.crt", registry() / "client.key"}; }

  private:
    std::filesystem::path root_;
};

}  // namespace svc::server
