#pragma once
// Which versions of TLS a server takes.
#include "libsvc/net/target.h"
#include "libsvc/net/tls.h"

namespace svc::test {

// Whether a handshake with this version, and no other, succeeds. No certificate is looked at.
bool accepts(const Target& server, TlsVersion version);

}  // namespace svc::test
