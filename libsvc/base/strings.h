#pragma once
// Small text helpers.
#include <string>
#include <string_view>
#include <vector>

namespace svc {

std::vector<std::string> split(std::string_view text, char separator);  // "" gives {}; empty parts are kept
std::string join(const std::vector<std::string>& parts, std::string_view separator);
std::string_view trim(std::string_view text) noexcept;
std::string to_lower(std::string_view text);
bool iequals(std::string_view a, std::string_view b) noexcept;                  // ASCII
std::string percent_decode(std::string_view text, bool plus_is_space = false);  // throws invalid_argument
std::string percent_encode(std::string_view text);                              // keeps unreserved characters

// 'text' for messages: control characters and invalid UTF-8 are shown as \xNN, at most 128 characters. An
// object and not a function, so that a call with a std::string never selects std::quoted.
struct Quoted {
    std::string operator()(std::string_view text) const;
};
inline constexpr Quoted quoted;

}  // namespace svc
