#pragma once
// Sizes as text: integer and suffix B, kB, MB, GB, TB, PB, EB, all powers of 1024; no suffix: bytes; "" is 0.
#include <cstdint>
#include <string>
#include <string_view>

namespace svc {

std::uint64_t parse_size(std::string_view field,
                         std::string_view text);  // throws invalid_argument, also above 2^63-1
std::string format_size(std::uint64_t bytes);     // largest unit with a value below 1024, no decimals
std::string exact_size(std::uint64_t bytes);      // largest unit that divides it: parse_size gives it back

}  // namespace svc
