#include "libsvc/model/cluster/role.h"

#include <array>

#include "libsvc/base/enum_table.h"
#include "libsvc/base/json.h"

namespace svc {

namespace {

constexpr std::array<EnumName<Role>, 3> role_names{{
    {Role::viewer, "viewer"},
    {Role::operator_, "operator"},
    {Role::admin, "admin"},
}};

}  // namespace

std::string_view to_text(Role role) {
    return enum_text<Role>(role_names, role);
}

Role parse_role(std::string_view text) {
    if (const auto role = enum_value<Role>(role_names, text)) return *role;
    throw_invalid("role", "one of viewer, operator, admin is expected");
}

}  // namespace svc
