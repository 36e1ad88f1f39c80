#pragma once
// JSON output.
#include <string>

#include "libsvc/base/json.h"

namespace svc::cli {

std::string render_json(const Json& value);       // indented, ends with a new line
std::string render_json_line(const Json& value);  // one line, for streams of values

}  // namespace svc::cli
