#pragma once
// YAML to and from JSON values; yaml-cpp does the work.
#include <string>
#include <string_view>

#include "libsvc/base/json.h"

namespace svc {

// One document. Plain scalars become null, booleans, integers or numbers by YAML 1.2's core schema, quoted
// ones stay strings. Throws invalid_argument "malformed YAML at line N: ..."; refuses aliases, duplicate keys
// and depth over 64.
Json parse_yaml(std::string_view text);
std::string to_yaml(const Json& value);  // block style, ends with a new line

}  // namespace svc
