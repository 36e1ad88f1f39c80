#pragma once
// The HTTP client of everything but the agent: pooled connections to one server. cpp-httplib makes the calls,
// inside client.cpp. The statically linked agent cannot have it and uses call_directly() (direct_call.h); see
// docs/decisions/0001-http-stack.md.
#include <memory>

#include "libsvc/net/client/target.h"
#include "libsvc/net/http/client_message.h"

namespace svc {

// Thread-safe. Blocks. Keeps up to 16 idle connections. GET and HEAD are sent once more when a kept
// connection turns out to be closed.
class HttpClient {
  public:
    explicit HttpClient(Target target);  // throws invalid_argument for a socket path that is too long
    ~HttpClient();
    // Replies of every status are returned. Throws unavailable when the server cannot be reached, presents
    // another certificate than the pinned one, or breaks off its reply. What source and sink throw passes
    // through.
    ClientReply call(const ClientRequest& request);
    const Target& target() const { return target_; }

  private:
    class Pool;
    Target target_;
    std::unique_ptr<Pool> pool_;
};

}  // namespace svc
