#pragma once
// Which certificate a server presents, before anybody trusts it: for a person to compare and to pin.
#include <chrono>

#include "libsvc/net/client/target.h"
#include "libsvc/net/http/request.h"

namespace svc {

// Connects by TLS, verifies nothing, sends nothing. Blocks at most about `limit` for each step. Throws
// unavailable.
ClientCertificate server_certificate(const Target& target,
                                     std::chrono::seconds limit = std::chrono::seconds(10));

}  // namespace svc
