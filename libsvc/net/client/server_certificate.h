#pragma once
// The certificate that a server presents, for a person to compare its fingerprint and to pin it.
#include <chrono>

#include "libsvc/net/client/target.h"
#include "libsvc/net/http/request.h"

namespace svc {

// Connects by TLS without verifying the certificate, and sends no request. Blocks at most about `limit` for
// each step. Throws unavailable.
ClientCertificate server_certificate(const Target& target,
                                     std::chrono::seconds limit = std::chrono::seconds(10));

}  // namespace svc
