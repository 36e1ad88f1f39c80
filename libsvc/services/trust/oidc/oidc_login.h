#pragma once
// Login of the console's users at an OpenID provider (docs/oidc.md): authorization code with PKCE. Opens no
// session: says who has logged in.
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "libsvc/base/clock.h"
#include "libsvc/base/guarded.h"
#include "libsvc/base/thread_pool.h"
#include "libsvc/remote/identity_server.h"
#include "libsvc/services/configuration/config_service.h"
#include "libsvc/services/trust/oidc/login_seal.h"
#include "libsvc/services/trust/oidc/user_claims.h"

namespace svc {

class OpenIdProvider;

// Where the browser goes, and what it keeps in a cookie until it is back.
struct BegunLogin {
    std::string url;
    std::string cookie;
};

// What the browser brings back.
struct LoginAnswer {
    std::string cookie;
    std::string state, code, issuer;  // parameters; "": absent
    std::string error;                // of the provider: it has refused
};

struct EndedLogin {
    OidcUser user;
    std::string return_to;
};

// Thread-safe. begin() and end() wait for the provider: call them on a thread of run(). They throw forbidden,
// unavailable and invalid_argument with what is wrong, and not_found where no provider is configured.
class OidcLogin {
  public:
    static constexpr std::chrono::minutes pending{10};  // how long a user may take

    // `key`: a secret of this cluster, for nothing else.
    OidcLogin(const ConfigService& config, const std::string& key, const Clock& clock,
              IdentityServerFactory open);
    ~OidcLogin();
    OidcLogin(const OidcLogin&) = delete;
    OidcLogin& operator=(const OidcLogin&) = delete;

    bool is_configured() const;  // reads memory only
    // Runs `job` on a thread for logins. Four threads, a hundred jobs that wait, four of one `source`; more
    // are refused: exhausted.
    void run(const std::string& source, std::function<void()> job);
    // Refuses new jobs, and returns when the others have run, which are refused as well. May be called again.
    void stop();
    // `callback_url`: used where oidc.redirect_url is not set. `return_to`: a path of the console, "": its
    // first page.
    BegunLogin begin(const std::string& callback_url, const std::string& return_to);
    // The same on any thread, where the provider need not be asked, as its document is kept; else nothing.
    std::optional<BegunLogin> begin_at_once(const std::string& callback_url, const std::string& return_to);
    EndedLogin end(const LoginAnswer& answer);

  private:
    std::shared_ptr<OpenIdProvider> provider(const ConfigValues& config);
    BegunLogin begun(const std::string& endpoint, const PendingLogin& login,
                     const ConfigValues& config) const;
    void check_running() const;
    std::shared_ptr<void> place_of(const std::string& source);

    const ConfigService& config_;
    const LoginSeal seal_;
    const Clock& clock_;
    const IdentityServerFactory open_;
    Guarded<std::shared_ptr<OpenIdProvider>> provider_;  // as the configuration was when it was used last
    std::atomic<bool> stopping_{false};
    Guarded<std::map<std::string, int>> under_way_;  // jobs by source
    ThreadPool threads_;
};

}  // namespace svc
