#include "server/http/query.h"

#include <charconv>
#include <limits>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::server {

namespace {

std::optional<std::int64_t> integer(std::string_view text) {
    std::int64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [after, error] = std::from_chars(text.data(), end, number);
    if (text.empty() || error != std::errc() || after != end) return std::nullopt;
    return number;
}

constexpr std::int64_t longest_wait_seconds =
    10LL * 365 * 24 * 3600;  // beyond it the clock's nanoseconds would overflow

}  // namespace

bool wants_records(const Request& request) {
    const std::string value = request.query_value("recursion");
    if (!value.empty() && value != "0" && value != "1") throw_invalid("recursion", "must be 0 or 1");
    return value == "1";
}

bool query_flag(const Request& request, std::string_view name) {
    const std::string value = request.query_value(name);
    if (!value.empty() && value != "true" && value != "false") throw_invalid(name, "must be true or false");
    return value == "true";
}

std::optional<Duration> wait_limit(const Request& request) {
    const std::string value = request.query_value("timeout");
    if (value.empty() || value == "-1") return std::nullopt;
    const auto seconds = integer(value);
    if (seconds && *seconds > longest_wait_seconds) return std::nullopt;
    if (seconds && *seconds >= 0) return std::chrono::seconds(*seconds);
    try {
        return parse_duration(value);
    } catch (const Error&) {
        throw_invalid("timeout", "must be -1, a number of seconds or a duration like 30s");
    }
}

std::size_t count_of_query(std::string_view text, std::string_view name) {
    const auto number = integer(text);
    if (!number || *number < 0) throw_invalid(name, "must be a number from 0 on");
    return static_cast<std::size_t>(*number);
}

Json json_body(const Request& request) {
    if (request.body.empty()) throw Error(ErrorCode::invalid_argument, "request body is required");
    return Json::parse(request.body);
}

Json optional_json_body(const Request& request) {
    return request.body.empty() ? Json::object() : Json::parse(request.body);
}

std::string fingerprint_header(const Request& request) {
    std::string fingerprint = to_lower(request.headers.get("X-SVC-Fingerprint"));
    if (!fingerprint.empty() && !is_sha256_hex(fingerprint))
        throw_invalid("X-SVC-Fingerprint", "must be 64 hexadecimal digits");
    return fingerprint;
}

bool has_content_type(const Request& request, std::string_view type) {
    const std::string given = request.headers.get("Content-Type");
    return iequals(trim(std::string_view(given).substr(0, given.find(';'))), type);
}

bool is_octet_stream(const Request& request) {
    return has_content_type(request, "application/octet-stream");
}

int version_of_path(const Request& request, std::string_view noun) {
    const auto number = integer(request.params.at("version"));
    if (!number || *number < 0 || *number > std::numeric_limits<int>::max())
        throw Error(ErrorCode::not_found, std::string(noun) + " not found");
    return static_cast<int>(*number);
}

bool force_of_body(const Request& request) {
    const Json body = optional_json_body(request);
    return JsonFields(body).boolean("force").value_or(false);
}

}  // namespace svc::server
