#pragma once
// What a client may do (extension `roles`; docs/trust.md). Each role may do what the lower ones may.
#include <string_view>

namespace svc {

enum class Role { viewer, operator_, admin };  // in this order: a higher role compares as greater

std::string_view to_text(Role role);
Role parse_role(std::string_view text);  // throws invalid_argument

}  // namespace svc
