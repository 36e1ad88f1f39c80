#pragma once
// Internal to services/trust: ID tokens (signed web tokens, RFC 7519, of OpenID Connect).
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/json.h"
#include "libsvc/services/trust/oidc/web_keys.h"

namespace svc {

// A token whose signature nobody has checked yet.
struct UncheckedToken {
    SignatureAlgorithm algorithm{};
    std::string key_id;       // ""
    std::string signed_text;  // what the signature is of
    std::string signature;
    Json claims;
};

// Throws forbidden "ID token ..." for what is malformed, longer than 64 KiB, or has a signature of another
// kind than RS256, PS256 and ES256.
UncheckedToken parse_id_token(std::string_view text);

// True when one of the keys, which fits the token's key id and algorithm, has signed it.
bool is_signed_by_one_of(const std::vector<WebKey>& keys, const UncheckedToken& token);

struct ExpectedToken {
    std::string issuer, client_id, nonce;
    Time now{};
};
// Throws forbidden that says which claim is wrong. Clocks may differ by a minute.
void check_claims(const Json& claims, const ExpectedToken& expected);

}  // namespace svc
