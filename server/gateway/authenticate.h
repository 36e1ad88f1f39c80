#pragma once
// From a request to who asks.
#include <optional>
#include <string>
#include <string_view>

#include "libsvc/net/http/request.h"
#include "libsvc/net/http/router.h"
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
    // Throws what the request is refused with. `trusted` routes are on the local socket alone.
    void check(Access access, const Request& request) const;
    // Throws unauthenticated "Authorization failed". The local socket needs no token.
    SessionOwner owner(const Request& request) const;
    // Whose sessions the request may see, join and end. "": everybody's, of the local socket and of
    // administrators.
    SessionOwner viewer(const Request& request) const;
    // Whose a new session is that is wanted for this account ("": for who asks). Throws forbidden for those
    // who see their own sessions alone.
    SessionOwner owner_of_new(const Request& request, const std::string& account) const;
    static bool is_local(const Request& request) { return request.peer->listener == local_listener; }
    static bool has_token(const Request& request) { return account_token(request).has_value(); }

  private:
    Account account(const Request& request) const;  // by its token; throws unauthenticated
    // `Authorization: macaroon root=<token>`, or ?api_token=<token>.
    static std::optional<std::string> account_token(const Request& request);

    const AccountService& accounts_;
};

// The metrics' name and password. Thread-safe.
class BasicCredentials {
  public:
    BasicCredentials(std::string_view user, std::string_view password);
    bool match(const Request& request) const;  // in constant time

  private:
    std::string digest_;  // of "user:password": all have the same length
};

}  // namespace svc::gateway
