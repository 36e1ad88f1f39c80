#pragma once
// Reads what several routes need from a request: values of the query, JSON bodies, headers of uploads.
#include <optional>
#include <string>
#include <string_view>

#include "libsvc/base/clock.h"
#include "libsvc/base/json.h"
#include "libsvc/net/http/request.h"

namespace svc::server {

// All throw invalid_argument for values that are not allowed.
bool wants_records(const Request& request);                      // ?recursion=1; 0 or absent: URLs
bool query_flag(const Request& request, std::string_view name);  // true or false; absent: false
std::optional<Duration> wait_limit(
    const Request& request);  // ?timeout: -1 or absent: none; seconds, or "30s"
std::size_t count_of_query(std::string_view text, std::string_view name);  // 0 or more
Json json_body(const Request& request);                                    // one whole value
Json optional_json_body(const Request& request);                           // an empty body is {}
std::string fingerprint_header(const Request& request);                    // lower-case; "" when not given
bool has_content_type(const Request& request, std::string_view type);  // parameters (charset) do not matter
bool is_octet_stream(const Request& request);
int version_of_path(const Request& request,
                    std::string_view noun);  // {version}; throws not_found "<noun> not found"
bool force_of_body(const Request& request);  // {"force": true}; an empty body is false

}  // namespace svc::server
