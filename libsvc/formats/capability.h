#pragma once
// Values of the extended attribute `security.capability` (file capabilities). In a user namespace the kernel
// honours such a value only where it names the host user that is root in the namespace. Pure functions.
#include <cstdint>
#include <optional>
#include <string>

namespace svc {

// Rewrites `value` for a root that is host user `id_shift`. Nothing: `value` is malformed.
std::optional<std::string> shift_capability(const std::string& value, std::uint32_t id_shift);
// The reverse. Nothing: `value` is malformed, or names a root outside of the `id_count` users from
// `id_shift`.
std::optional<std::string> unshift_capability(const std::string& value, std::uint32_t id_shift,
                                              std::uint32_t id_count);

}  // namespace svc
