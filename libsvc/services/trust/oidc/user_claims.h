#pragma once
// Internal to services/trust: who a user is by the claims of an ID token, and what they may do.
#include <string>

#include "libsvc/base/json.h"
#include "libsvc/model/cluster/config.h"
#include "libsvc/model/cluster/role.h"

namespace svc {

struct OidcUser {
    std::string name;
    Role role{};
};

// By oidc.name_claim, oidc.role_claim and oidc.roles. An e-mail address that the provider has not verified
// counts as absent. Throws forbidden when no rule gives the user a role, or the token has no name.
OidcUser user_of(const Json& claims, const ConfigValues& config);

}  // namespace svc
