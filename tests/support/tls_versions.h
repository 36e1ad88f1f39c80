#pragma once
// Which versions of TLS a server takes, and who it says it is.
#include <string>

#include "libsvc/net/client/target.h"
#include "libsvc/net/tls/tls.h"

namespace svc::test {

// Whether a handshake with this version, and no other, succeeds. No certificate is looked at.
bool accepts(const Target& server, TlsVersion version);
// Whose certificate is presented then (common name) to a client that asks for `name`; "": for none. "" when
// the handshake fails.
std::string presented(const Target& server, TlsVersion version, const std::string& name);

}  // namespace svc::test
