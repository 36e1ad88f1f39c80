#pragma once
// Join tokens: invitations that add one certificate (docs/trust.md).
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/id.h"
#include "libsvc/base/json.h"
#include "libsvc/model/cluster/certificate.h"
#include "libsvc/services/common/records.h"

namespace svc {

// A token as its maker sees it, once: the secret is stored as a hash only.
struct IssuedToken {
    JoinToken token;
    std::string text;  // what to hand over: base64 of JSON {"id","secret","fingerprint","addresses"}
};

// Thread-safe. A token is valid for one use, until it expires.
class JoinTokenStore {
  public:
    JoinTokenStore(JoinTokens& tokens, const Clock& clock, IdSource& ids)
        : tokens_(tokens), clock_(clock), ids_(ids) {}

    // At most 1000 tokens, valid for a year at most. Throws invalid_argument, exhausted.
    IssuedToken issue(std::string name, Role role, Duration validity, std::string_view server_fingerprint,
                      const std::vector<std::string>& addresses);
    std::vector<std::shared_ptr<const JoinToken>> list() const;  // the valid ones
    void revoke(std::string_view id);                            // throws not_found
    void remove_expired();

    // The JSON in a token's text; null for any other text, such as a password.
    static Json parse(std::string_view text);
    // Stages the removal of a valid token, so that it is used once, and returns its record; null when `token`
    // (as parse() gave it) is not valid. The commit of `together` fails with conflict when it is used
    // already.
    std::shared_ptr<const JoinToken> use(const Json& token, Batch& together);

  private:
    JoinTokens& tokens_;
    const Clock& clock_;
    IdSource& ids_;
};

}  // namespace svc
