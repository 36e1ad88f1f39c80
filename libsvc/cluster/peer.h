#pragma once
// How a manager reaches another one: TLS both ways, with the certificate that all managers of a cluster have
// (docs/managers.md, "Keys in etcd").
#include <string>
#include <string_view>

#include "libsvc/net/client/target.h"

namespace svc {

// Paths that managers offer each other begin with it.
inline constexpr std::string_view peer_path = "/internal/1.0/";
// Header of every call of a node: the term of the leader that calls.
inline constexpr std::string_view term_header = "Svc-Term";

// Plain value.
struct PeerIdentity {
    KeyPair keys;             // of the cluster
    std::string fingerprint;  // of that certificate, SHA-256 in hex
};

// `address`: "10.77.0.11:8445", Manager::address. Throws invalid_argument.
Target peer_target(const PeerIdentity& identity, std::string_view address);

}  // namespace svc
