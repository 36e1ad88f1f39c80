#pragma once
// Where a value stands in a YAML text, for messages that name a line.
#include <cstddef>
#include <string_view>

namespace svc {

// The line, counted from 1, of a value that is named by its path: "turn.ttl", "regions[1].url". When the path
// leads to nothing, the line of the nearest value around it; 0 when the first key of the path is absent or
// `text` is no YAML. `text` is one document that parse_yaml() takes.
std::size_t yaml_line(std::string_view text, std::string_view path);

}  // namespace svc
