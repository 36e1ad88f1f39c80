#pragma once
// The characters of a text.
#include <string>
#include <string_view>

namespace svc::streamer {

// What is no UTF-8 is left out.
std::u32string characters_of(std::string_view utf8);

}  // namespace svc::streamer
