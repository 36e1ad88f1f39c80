#pragma once
// Converts values of fields from the user's spelling to the API's JSON.
#include <string>
#include <string_view>

#include "libsvc/base/json.h"

namespace svc::cli {

Json list_value(const std::string& text);                             // from "a,b"; empty items are dropped
Json boolean_value(std::string_view field, const std::string& text);  // throws UsageError

}  // namespace svc::cli
