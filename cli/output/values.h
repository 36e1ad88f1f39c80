#pragma once
// Reads members of the service's records and formats them. A member may be absent, null, or unknown to this
// client because the service is newer.
#include <string>
#include <string_view>

#include "libsvc/base/json.h"

namespace svc::cli {

// The member at a path like "network.address"; null when it is absent.
const Json& member(const Json& record, std::string_view path);
std::string text_of(const Json& record,
                    std::string_view path);  // "" when absent; numbers and booleans as JSON
std::int64_t number_of(const Json& record, std::string_view path);  // 0 when absent or no number
bool is_true(const Json& record, std::string_view path);
const JsonArray& items_of(const Json& record, std::string_view path);  // none when absent or null

std::string time_text(std::int64_t unix_seconds);    // "2024-01-02T03:04:05Z"
std::string shown_time(const std::string& rfc3339);  // for tables: without fractions of a second
std::string yes_no(bool value);                      // "true" or "false"

std::string comma_text(const JsonArray& items);  // "a,b": strings as they are, other values as JSON

// Copies the named members that exist.
void copy_members(const Json& from, Json& to, std::initializer_list<std::string_view> names);

}  // namespace svc::cli
