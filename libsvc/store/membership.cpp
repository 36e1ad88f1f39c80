#include "libsvc/store/membership.h"

#include <algorithm>

namespace svc {

std::optional<Manager> find_manager(const Membership& membership, std::string_view id_or_name) {
    const auto managers = membership.managers();
    const auto found = std::ranges::find_if(
        managers, [&](const Manager& each) { return each.id == id_or_name || each.name == id_or_name; });
    return found == managers.end() ? std::nullopt : std::optional(*found);
}

}  // namespace svc
