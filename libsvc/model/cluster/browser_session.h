#pragma once
// A browser that is logged in (extension `sessions`; docs/trust.md). Plain values.
#include <optional>
#include <string>
#include <string_view>

#include "libsvc/base/clock.h"
#include "libsvc/base/json.h"
#include "libsvc/model/cluster/role.h"

namespace svc {

enum class LoginMethod { link, oidc };
std::string_view to_text(LoginMethod method);

struct BrowserSession {
    std::string id;
    std::string secret_hash;  // SHA-256 of the cookie's value, lower-case hex; not in the API
    // SHA-256 of the key that the page has; likewise. "": of a version before there were keys; it has ended.
    std::string key_hash;
    std::string name;  // of the user: lists, operations and the audit have it
    Role role = Role::viewer;
    LoginMethod method = LoginMethod::link;
    // The certificate whose owner has made the link: the session ends with its trust, and may do no more than
    // it. "": the session depends on no certificate.
    std::string certificate;
    std::string parent;      // id of the session that has made the link, and ends this one; "": none has
    std::string address;     // where the browser was when it logged in
    std::string user_agent;  // what it said it was
    Time created_at{};
    Time used_at{};     // to the minute: not each request is stored
    Time expires_at{};  // whatever it does until then
};

Json to_json(const BrowserSession& session);
Json browser_session_to_store(const BrowserSession& session);
BrowserSession browser_session_from_store(const Json& stored);

// Body of POST /1.0/sessions/links.
struct LinkRequest {
    std::optional<Role> role;  // absent: that of the caller
    std::string name;          // "": that of the caller
    static LinkRequest from_json(const Json& body);
};

}  // namespace svc
