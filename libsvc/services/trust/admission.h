#pragma once
// How a client without a trusted certificate is admitted: by the trust password or a join token.
#include <string>
#include <string_view>

#include "libsvc/base/clock.h"
#include "libsvc/model/cluster/certificate.h"
#include "libsvc/net/server/try_limit.h"
#include "libsvc/services/configuration/config_service.h"
#include "libsvc/services/trust/join_token_store.h"

namespace svc {

// What a client has shown, and what it gets for it.
struct Admitted {
    std::string by;  // for the log: "password", "token <id>"
    Role role = Role::admin;
};

// Thread-safe. Wrong tries are counted by address (see TryLimit).
class Admission {
  public:
    Admission(JoinTokenStore& tokens, const ConfigService& config, const Clock& clock)
        : tokens_(tokens), config_(config), tries_(clock) {}

    // The removal of a token goes into `together`. Throws forbidden.
    // A password takes about 50 ms and 16 MiB.
    // No password is taken from an instance (`from_instance`): root there has a network of addresses, and all
    // the time in the world.
    Admitted authorise(const CertificateRequest& request, std::string_view address, bool from_instance,
                       Batch& together);

  private:
    void check_password(std::string_view password, std::string_view address, bool from_instance);
    Admitted use_token(const Json& token, std::string_view address, Batch& together);

    JoinTokenStore& tokens_;
    const ConfigService& config_;
    TryLimit tries_;
};

}  // namespace svc
