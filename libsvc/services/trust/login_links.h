#pragma once
// Links with which a browser logs in: of one use, and valid for a minute.
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "libsvc/base/clock.h"
#include "libsvc/base/id.h"
#include "libsvc/model/cluster/role.h"

namespace svc {

// What the session of a link will be.
struct LinkGrant {
    std::string name;
    Role role = Role::viewer;
    std::string certificate;         // see BrowserSession
    std::optional<Time> until = {};  // the session ends then at the latest; absent: sessions.lifetime alone
    std::string session = {};        // id of the session that has asked for it; "": none has
};

struct IssuedLink {
    std::string secret;  // told once
    Time expires_at{};
};

// Thread-safe. In memory: a restart, or another leader, forgets the links of the last minute.
class LoginLinks {
  public:
    LoginLinks(const Clock& clock, IdSource& ids) : clock_(clock), ids_(ids) {}
    // At most 100 are open, 5 of a user: a name with its certificate. Throws exhausted.
    IssuedLink issue(LinkGrant grant);
    // Takes the link away: of two that use it at the same time one gets the grant. Nothing: it is wrong, used
    // or expired.
    std::optional<LinkGrant> use(std::string_view secret);
    void drop_of(std::string_view session);  // the open links of a session

  private:
    struct Link {
        LinkGrant grant;
        Time expires_at{};
    };
    std::ptrdiff_t links_of(const LinkGrant& user) const;
    void forget_expired();

    const Clock& clock_;
    IdSource& ids_;
    std::mutex mutex_;
    std::map<std::string, Link, std::less<>> links_;  // by the SHA-256 of the secret
};

}  // namespace svc
