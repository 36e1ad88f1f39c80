#pragma once
// Internal to services/trust: what a browser keeps between its way to an OpenID provider and back. The text
// is sealed by a key that all managers have, so that any of them may take the callback, and nothing is
// stored.
#include <string>
#include <string_view>

#include "libsvc/base/clock.h"

namespace svc {

struct PendingLogin {
    std::string id;  // random
    Time expires_at{};
    std::string redirect_url;  // where the provider sends the browser
    std::string return_to;     // the page of the console that is shown afterwards
};

// Immutable; thread-safe.
class LoginSeal {
  public:
    explicit LoginSeal(std::string key) : key_(std::move(key)) {}
    std::string close(const PendingLogin& login) const;
    // Throws forbidden for what close() has not made, and for a login that has expired.
    PendingLogin open(std::string_view text, Time now) const;

    // Texts that belong to the login and that nobody can guess who has only its sealed text.
    std::string state(const PendingLogin& login) const { return derived("state", login); }
    std::string nonce(const PendingLogin& login) const { return derived("nonce", login); }
    std::string verifier(const PendingLogin& login) const { return derived("verifier", login); }

  private:
    std::string derived(const char* purpose, const PendingLogin& login) const;
    std::string seal_of(std::string_view text) const;

    std::string key_;
};

}  // namespace svc
