#pragma once
// call_directly() over connections that are kept: for a server that ends its replies with trailers, which
// cpp-httplib does not read (etcd's gateway).
#include <memory>

#include "libsvc/net/client/target.h"
#include "libsvc/net/http/client_message.h"

namespace svc {

// Thread-safe. Blocks. Keeps up to 16 idle connections.
class KeptClient {
  public:
    explicit KeptClient(Target target);
    ~KeptClient();
    // As call_directly(). Repeats nothing: a kept connection that turns out to be closed is `unavailable`.
    ClientReply call(ClientRequest request);
    const Target& target() const { return target_; }

  private:
    struct Connection;
    class Pool;
    const Target target_;
    std::unique_ptr<Pool> pool_;
};

}  // namespace svc
