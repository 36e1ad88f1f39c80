#pragma once
// Accounts of the stream gateway (docs/svc-gateway.md, "Accounts and tokens").
#include <string>
#include <string_view>

#include "libsvc/base/clock.h"
#include "libsvc/base/json.h"

namespace svc {

struct Account {
    std::string name;  // [a-z0-9][a-z0-9-]{0,62}
    Time created_at{};
    Time expires_at{};
    bool admin = false;        // sees the sessions of all accounts, and makes sessions for others
    std::string token_digest;  // SHA-256 of its one valid token, hex; never in an answer
};

Json to_json(const Account& account);  // {name, created_at, expires_at, admin}
Json account_to_store(const Account& account);
Account account_from_store(const Json& stored);

// Body of POST /1.0/accounts.
struct AccountCreate {
    std::string name;
    std::string expiry;  // "720h" or RFC 3339; "": one year
    bool admin = false;
    static AccountCreate from_json(const Json& body);
};

}  // namespace svc
