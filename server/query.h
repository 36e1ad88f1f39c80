#pragma once
// What several routes read from a request: query values, JSON bodies, If-Match, the fingerprint header.
#include <optional>
#include <string>
#include <string_view>

#include "libsvc/base/clock.h"
#include "libsvc/base/json.h"
#include "libsvc/net/request.h"

namespace svc::server {

// All throw invalid_argument for values they do not take.
bool wants_records(const Request& request);                      // ?recursion=1; 0 or absent: URLs
bool query_flag(const Request& request, std::string_view name);  // true or false; absent: false
std::optional<Duration> wait_limit(
    const Request& request);                             // ?timeout: -1 or absent: none; seconds, or "30s"
Json json_body(const Request& request);                  // one whole value
Json optional_json_body(const Request& request);         // an empty body is {}
std::string fingerprint_header(const Request& request);  // lower-case; "" when not given
bool is_json_upload(const Request& request);             // Content-Type: application/json
// Throws precondition_failed when If-Match is there and names neither `etag` nor `*`.
void check_if_match(const Request& request, std::string_view etag);

}  // namespace svc::server
