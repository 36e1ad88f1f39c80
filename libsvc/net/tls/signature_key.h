#pragma once
// Public keys that check signatures of signed web tokens (RFC 7518), made of the numbers that a key set has.
#include <memory>
#include <string_view>

namespace svc {

enum class SignatureAlgorithm { rs256, ps256, es256 };

// Immutable; thread-safe; copies share the key.
class SignatureKey {
  public:
    // Numbers are big-endian bytes. All throw invalid_argument: an RSA key must have 2048 to 8192 bits and an
    // odd exponent from 3 to 2^32, a point must be one of P-256.
    static SignatureKey rsa(std::string_view modulus, std::string_view exponent);
    static SignatureKey p256(std::string_view x, std::string_view y);

    // Whether keys of this type make such signatures: an RSA key RS256 and PS256, a point ES256.
    bool fits(SignatureAlgorithm algorithm) const;
    // False for everything but this key's signature of `text`, also for an algorithm that does not fit.
    bool has_signed(SignatureAlgorithm algorithm, std::string_view text, std::string_view signature) const;

  private:
    struct State;
    explicit SignatureKey(std::shared_ptr<const State> state) : state_(std::move(state)) {}
    std::shared_ptr<const State> state_;
};

}  // namespace svc
