#pragma once
// Authenticates clients: finds the account that a request belongs to, and what it may see.
#include <optional>
#include <string>
#include <string_view>

#include "libsvc/net/http/request.h"
#include "libsvc/net/http/router.h"
#include "libsvc/net/server/try_limit.h"
#include "libsvc/streaming/account_service.h"
#include "libsvc/streaming/sessions/session_service.h"

namespace svc::gateway {

// Names of the listeners in Peer::listener.
inline constexpr std::string_view local_listener = "local";
inline constexpr std::string_view api_listener = "api";
inline constexpr std::string_view metrics_listener = "metrics";

// Thread-safe; reads memory only.
class Authenticator {
  public:
    explicit Authenticator(const AccountService& accounts) : accounts_(accounts) {}
    // Throws the Error with which a request is refused. `trusted` routes are on the local socket alone.
    void check(Access access, const Request& request) const;
    // The owner of the sessions that the request makes. Throws unauthenticated "Authorization failed". The
    // local socket needs no token.
    SessionOwner owner(const Request& request) const;
    // The owner whose sessions the request may see, join and end. "": those of all owners, for the local
    // socket and for administrators.
    SessionOwner viewer(const Request& request) const;
    // The owner of a new session that is made for this account ("": for the client itself). Throws forbidden
    // unless the client is an administrator.
    SessionOwner owner_of_new(const Request& request, const std::string& account) const;
    static bool is_local(const Request& request) { return request.peer->listener == local_listener; }
    static bool has_token(const Request& request) { return account_token(request).has_value(); }

  private:
    Account account(const Request& request) const;  // by its token; throws unauthenticated
    // `Authorization: macaroon root=<token>`, or ?api_token=<token>.
    static std::optional<std::string> account_token(const Request& request);

    const AccountService& accounts_;
};

// The name and password of the metrics. Thread-safe.
class BasicCredentials {
  public:
    BasicCredentials(std::string_view user, std::string_view password, const Clock& clock);
    // In constant time. Throws forbidden while there were too many wrong ones.
    bool match(const Request& request);

  private:
    std::string digest_;  // of "user:password": all have the same length
    TryLimit tries_;
};

}  // namespace svc::gateway
