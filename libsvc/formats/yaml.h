#pragma once
// YAML to and from JSON values. Only yaml.cpp includes yaml-cpp. Pure functions.
#include <span>
#include <string>
#include <string_view>

#include "libsvc/base/json.h"

namespace svc {

// One document. Plain scalars become null, booleans, integers or numbers by YAML 1.2's core schema, quoted
// ones stay strings. Throws invalid_argument "malformed YAML at line N: ..."; refuses aliases, duplicate keys
// and depth over 64. Below the top-level keys `text_keys`, plain scalars other than null stay the text they
// are: `version: 1.10` is "1.10".
Json parse_yaml(std::string_view text, std::span<const std::string_view> text_keys = {});
std::string to_yaml(const Json& value);  // block style, ends with a new line

}  // namespace svc
