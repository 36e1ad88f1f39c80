#pragma once
// The layout of the state directory, and the lock that keeps it to one gateway:
//   lock  gateway.db  tokens.key  tls/server.{crt,key}  tls/instances.{crt,key}
// With the store etcd there is no gateway.db, but gateway.id, cluster.id.
#include <filesystem>

#include "libsvc/base/file.h"
#include "libsvc/net/tls/tls.h"

namespace svc::gateway {

class StateDirectory {
  public:
    // Makes the folders, mode 0700. Throws busy when another gateway has it.
    explicit StateDirectory(const std::filesystem::path& root);

    std::filesystem::path database() const { return root_ / "gateway.db"; }
    std::filesystem::path gateway_id() const { return root_ / "gateway.id"; }
    std::filesystem::path cluster_id() const { return root_ / "cluster.id"; }
    std::filesystem::path token_secret() const { return root_ / "tokens.key"; }
    KeyPair server_keys() const { return {root_ / "tls" / "server.crt", root_ / "tls" / "server.key"}; }
    KeyPair instance_keys() const {
        return {root_ / "tls" / "instances.crt", root_ / "tls" / "instances.key"};
    }

  private:
    std::filesystem::path root_;
    FileDescriptor lock_;
};

}  // namespace svc::gateway
