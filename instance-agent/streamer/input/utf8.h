#pragma once
// Decodes UTF-8.
#include <string>
#include <string_view>

namespace svc::streamer {

// The characters of a text. Bytes that are not UTF-8 are skipped.
std::u32string characters_of(std::string_view utf8);

}  // namespace svc::streamer
