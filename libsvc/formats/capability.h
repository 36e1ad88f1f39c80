#pragma once
// Values of the extended attribute `security.capability`. The kernel honours one in a user namespace only
// where it names the user that is root there.
#include <cstdint>
#include <optional>
#include <string>

namespace svc {

// For a root that is host user `id_shift`. Nothing: malformed.
std::optional<std::string> shift_capability(const std::string& value, std::uint32_t id_shift);
// The other way. Nothing: malformed, or of no root within the `id_count` users from `id_shift`.
std::optional<std::string> unshift_capability(const std::string& value, std::uint32_t id_shift,
                                              std::uint32_t id_count);

}  // namespace svc
