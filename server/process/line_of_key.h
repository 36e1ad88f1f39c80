#pragma once
// Where in a YAML text a key is, for messages.
#include <cstddef>
#include <string_view>

namespace svc::process {

// 1-based line of a key like "turn.ttl" or "regions[1].url"; of the nearest key around it where that one is
// written in flow style; 0 when there is none.
std::size_t line_of_key(std::string_view yaml, std::string_view path);

}  // namespace svc::process
