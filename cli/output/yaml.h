#pragma once
// YAML output.
#include <string>

#include "libsvc/base/json.h"

namespace svc::cli {

std::string render_yaml(const Json& value);           // one document
std::string render_yaml_document(const Json& value);  // with "---" in front, for streams of values

}  // namespace svc::cli
