#pragma once
// Reading members of records that may be absent, null or of a newer service's making, and showing them.
#include <string>
#include <string_view>

#include "libsvc/base/json.h"

namespace svc::cli {

// Path of members with '.' between; null when there is none.
const Json& member(const Json& record, std::string_view path);
std::string text_of(const Json& record,
                    std::string_view path);  // "" when absent; numbers and booleans as JSON
std::int64_t number_of(const Json& record, std::string_view path);  // 0 when absent or no number
bool is_true(const Json& record, std::string_view path);
const JsonArray& items_of(const Json& record, std::string_view path);  // none when absent or null

std::string time_text(std::int64_t unix_seconds);    // "2024-01-02T03:04:05Z"
std::string shown_time(const std::string& rfc3339);  // without the parts of a second, as tables show it
std::string yes_no(bool value);                      // "true", "false": as tables show it

std::string comma_text(const JsonArray& items);  // "a,b": texts as they are, the rest as JSON

// Copies members that are there, under the same names.
void copy_members(const Json& from, Json& to, std::initializer_list<std::string_view> names);

}  // namespace svc::cli
