#pragma once
// Keys that sign tokens, as an OpenID provider has them.
#include <memory>
#include <string>

#include "libsvc/base/json.h"

namespace svc::test {

// Copies share the key.
class SigningKey {
  public:
    static SigningKey rsa(std::string id, unsigned bits = 2048);
    static SigningKey p256(std::string id);
    const std::string& id() const { return id_; }
    Json web_key() const;  // {"kid", "kty", "use", its numbers}
    // `algorithm`: RS256, PS256 or ES256, whatever the key is made for.
    std::string sign(const std::string& algorithm, const std::string& text) const;
    // A token with this header and body.
    std::string token_with(const Json& header, const Json& claims) const;  // signed as header's "alg" says
    std::string token(const std::string& algorithm, const Json& claims) const;

  private:
    struct State;
    SigningKey(std::string id, std::shared_ptr<const State> state)
        : id_(std::move(id)), state_(std::move(state)) {}
    std::string id_;
    std::shared_ptr<const State> state_;
};

// {"keys": [...]}
std::string key_set(const std::vector<SigningKey>& keys);

}  // namespace svc::test
