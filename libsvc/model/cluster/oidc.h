#pragma once
// What the settings oidc.* may say (docs/oidc.md).
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/model/cluster/role.h"

namespace svc {

// A URL with https://, or with http:// of a loopback address, without user, fragment, spaces and control
// characters.
bool is_provider_url(std::string_view url);

// "claim value=role": who has this value in the role claim has the role. "*" stands for everybody.
struct RoleRule {
    std::string value;
    Role role{};
    bool operator==(const RoleRule&) const = default;
};

// "svc-admins=admin,ops=operator,*=viewer"; the last '=' of an item counts. Throws invalid_argument that
// names the item.
std::vector<RoleRule> parse_role_rules(std::string_view text);
// The greatest role that a rule gives for one of `values`; nothing when no rule does.
std::optional<Role> role_of(const std::vector<RoleRule>& rules, const std::vector<std::string>& values);

}  // namespace svc
