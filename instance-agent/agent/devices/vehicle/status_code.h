#pragma once
// Status codes of Android's vehicle HAL, for requests that fail.
#include <cstdint>
#include <string_view>

namespace svc::agent {

enum class StatusCode : std::int32_t {
    ok = 0,
    try_again = 1,
    invalid_arg = 2,
    not_available = 3,
    internal = 5
};

// "NOT_AVAILABLE"; codes that do not exist are INTERNAL_ERROR.
std::string_view status_code_name(std::int64_t code);
// "VHAL request failed: NOT_AVAILABLE": invalid_argument for invalid_arg, else unavailable.
[[noreturn]] void throw_status(std::int64_t code);
[[noreturn]] void throw_status(StatusCode code);

}  // namespace svc::agent
