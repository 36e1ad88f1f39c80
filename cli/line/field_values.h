#pragma once
// Values of fields as a user writes them, made what the API takes.
#include <string>
#include <string_view>

#include "libsvc/base/json.h"

namespace svc::cli {

Json list_value(const std::string& text);                             // "a,b"; what is empty is left out
Json boolean_value(std::string_view field, const std::string& text);  // throws UsageError

}  // namespace svc::cli
