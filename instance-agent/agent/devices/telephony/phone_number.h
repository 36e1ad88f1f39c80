#pragma once
// What can be dialled (docs/telephony.md).
#include <string_view>

namespace svc::agent {

// Up to 32 of the digits, '*' and '#', after a '+' or without one.
bool is_phone_number(std::string_view text);
bool has_digits_only(std::string_view text);

}  // namespace svc::agent
