#pragma once
// The values of lines of the configuration. Pure. Throws LaunchFailure naming the value.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace svc::lxc {

[[noreturn]] void refuse(std::string_view what, std::string_view value);
std::uint64_t number(std::string_view text);
unsigned small_number(std::string_view text, std::uint64_t most = UINT32_MAX);
std::vector<std::string> words(std::string_view text);  // between blanks
std::string unescaped(std::string_view field);          // of a mount entry
std::uint64_t size_of(std::string_view text);           // "1MB", as bytes

}  // namespace svc::lxc
