#pragma once
// Internal to services/trust: the public keys of an OpenID provider (a JWK set, RFC 7517).
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/net/tls/signature_key.h"

namespace svc {

// "RS256", "PS256", "ES256"; nothing for all else, also for "none" and those with a shared secret (HS256).
std::optional<SignatureAlgorithm> parse_signature_algorithm(std::string_view name);

struct WebKey {
    std::string id;                               // "kid"; ""
    std::optional<SignatureAlgorithm> algorithm;  // "alg": the only one that it is for
    SignatureKey key;

    bool fits(std::string_view id, SignatureAlgorithm algorithm) const;
};

// Leaves out keys of other kinds, for other uses, and malformed ones. Throws invalid_argument for what is no
// key set, has more than 100 keys, or none that is left.
std::vector<WebKey> parse_key_set(std::string_view text);

}  // namespace svc
