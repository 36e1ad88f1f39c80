#pragma once
// Internal to this folder: paths and lists for the calls of ApiClient.
#include <string>
#include <string_view>

#include "libsvc/base/json.h"

namespace svc::client {

std::string item(std::string_view collection,
                 std::string_view id);  // "/1.0/images/<id>"; throws for an empty id
JsonArray items(const Json& metadata);  // null is none

}  // namespace svc::client
