#pragma once
// Sizes as text: integer and suffix B, kB, MB, GB, TB, PB, EB, all powers of 1024; no suffix: bytes; "" is 0.
// Manifests, launches, nodes and svcctl use these functions, so that all accept the same texts.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "libsvc/base/json.h"

namespace svc {

std::uint64_t parse_size(std::string_view field,
                         std::string_view text);  // throws invalid_argument, also above 2^63-1
// The value of a member in bytes, given as text or as a number of bytes. Nothing: absent or null. Throws
// invalid_argument naming its path.
std::optional<std::uint64_t> size_in(const JsonFields& fields, std::string_view key);
// The same for resources of an instance: refuses 0.
std::optional<std::uint64_t> amount_in(const JsonFields& fields, std::string_view key);
std::string format_size(std::uint64_t bytes);  // largest unit with a value below 1024, no decimals
std::string exact_size(std::uint64_t bytes);   // largest unit that divides it: parse_size gives it back

}  // namespace svc
