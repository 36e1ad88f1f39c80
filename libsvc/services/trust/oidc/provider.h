#pragma once
// Internal to services/trust: an OpenID provider: its documents, kept for a while, and its answers.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/guarded.h"
#include "libsvc/base/json.h"
#include "libsvc/remote/identity_server.h"
#include "libsvc/services/trust/oidc/id_token.h"

namespace svc {

// The members of the discovery document that are used.
struct ProviderDocument {
    std::string authorization_endpoint, token_endpoint, key_set;
    // Throws invalid_argument, also when the document is of another issuer.
    static ProviderDocument parse(std::string_view text, const std::string& issuer);
};

struct ProviderOptions {
    std::string issuer;
    IdentityServerOptions server;
    bool operator==(const ProviderOptions&) const = default;
};

struct CodeExchange {
    std::string code, verifier, redirect_url;
    std::string client_id, client_secret;  // "": a public client
};

// Thread-safe. Blocks as IdentityServer does, and throws what that throws.
class OpenIdProvider {
  public:
    OpenIdProvider(ProviderOptions options, const IdentityServerFactory& open, const Clock& clock);
    const ProviderOptions& options() const { return options_; }
    ProviderDocument document();                            // read again after an hour
    std::optional<ProviderDocument> kept_document() const;  // reads memory only; nothing: it has to be read
    std::string id_token(const CodeExchange& exchange);
    // The claims of a token that this provider has signed and that is as expected. Throws forbidden. The
    // provider's keys are read again after an hour, and for a key that is not known, once in half a minute.
    Json checked_claims(const std::string& token, const ExpectedToken& expected);

  private:
    template <class T>
    struct Kept {
        std::optional<T> value;
        SteadyTime read_at{};
        SteadyTime tried_at{};  // also when that failed
    };
    using Keys = std::shared_ptr<const std::vector<WebKey>>;

    Keys keys(bool searching);  // for one that the kept ones lack
    Keys read_keys();

    const ProviderOptions options_;
    const std::unique_ptr<IdentityServer> server_;
    const Clock& clock_;
    Guarded<Kept<ProviderDocument>> document_;
    Guarded<Kept<Keys>> keys_;
};

}  // namespace svc
