#pragma once
// One HTTP call without cpp-httplib, for the statically linked agent: Unix socket, TCP, or TLS with a pinned
// certificate.
#include <chrono>

#include "libsvc/net/client.h"

namespace svc {

// Blocks. Of `request`, a source needs its length. Throws unavailable.
ClientReply call_directly(const Target& target, const ClientRequest& request);

}  // namespace svc
