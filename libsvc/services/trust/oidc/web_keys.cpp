#include "libsvc/services/trust/oidc/web_keys.h"

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/json.h"

namespace svc {

namespace {

constexpr std::size_t max_keys = 100;

std::string bytes_of(const JsonFields& fields, std::string_view name) {
    return base64url_decode(fields.require_string(name));
}

// Nothing: a key of a kind that signs no tokens for us.
std::optional<SignatureKey> public_key(const JsonFields& fields) {
    const std::string type = fields.require_string("kty");
    if (type == "RSA") return SignatureKey::rsa(bytes_of(fields, "n"), bytes_of(fields, "e"));
    if (type == "EC" && fields.string("crv") == "P-256")
        return SignatureKey::p256(bytes_of(fields, "x"), bytes_of(fields, "y"));
    return std::nullopt;
}

bool is_for_signatures(const JsonFields& fields) {
    if (fields.string("use").value_or("sig") != "sig") return false;
    const auto alg = fields.string("alg");
    return !alg || parse_signature_algorithm(*alg);
}

std::optional<WebKey> parse_key(const Json& json) {
    const JsonFields fields(json);
    if (!is_for_signatures(fields)) return std::nullopt;
    auto key = public_key(fields);
    if (!key) return std::nullopt;
    const auto alg = fields.string("alg");
    WebKey made{fields.string("kid").value_or(""), alg ? parse_signature_algorithm(*alg) : std::nullopt,
                std::move(*key)};
    if (made.algorithm && !made.key.fits(*made.algorithm)) return std::nullopt;
    return made;
}

}  // namespace

std::optional<SignatureAlgorithm> parse_signature_algorithm(std::string_view name) {
    if (name == "RS256") return SignatureAlgorithm::rs256;
    if (name == "PS256") return SignatureAlgorithm::ps256;
    if (name == "ES256") return SignatureAlgorithm::es256;
    return std::nullopt;
}

bool WebKey::fits(std::string_view wanted, SignatureAlgorithm used) const {
    return (wanted.empty() || wanted == id) && key.fits(used) && algorithm.value_or(used) == used;
}

std::vector<WebKey> parse_key_set(std::string_view text) {
    const Json set = Json::parse(text);
    const Json* const list = set.find("keys");
    if (list == nullptr || !list->is_array()) throw Error(ErrorCode::invalid_argument, "key set has no keys");
    if (list->as_array().size() > max_keys)
        throw Error(ErrorCode::invalid_argument, "key set has more than 100 keys");
    std::vector<WebKey> keys;
    for (const Json& item : list->as_array()) {
        try {
            if (auto key = parse_key(item)) keys.push_back(std::move(*key));
        } catch (const Error& e) {
            if (e.code() != ErrorCode::invalid_argument) throw;  // malformed: another one may do
        }
    }
    if (keys.empty())
        throw Error(ErrorCode::invalid_argument, "key set has no key for RS256, PS256 or ES256");
    return keys;
}

}  // namespace svc
