#pragma once
// One HTTP call without cpp-httplib, for the statically linked agent: Unix socket, TCP, or TLS with a pinned
// certificate.
#include <chrono>

#include "libsvc/net/client/client.h"

namespace svc {

// Blocks. Throws unavailable; what source and sink throw passes through.
ClientReply call_directly(const Target& target, const ClientRequest& request);

}  // namespace svc
