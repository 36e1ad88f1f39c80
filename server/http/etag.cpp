#include "server/http/etag.h"

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::server {

namespace {

// An entity tag as clients write it.
std::string_view plain_tag(std::string_view tag) {
    tag = trim(tag);
    if (tag.starts_with("W/")) tag.remove_prefix(2);
    if (tag.size() >= 2 && tag.front() == '"' && tag.back() == '"') tag = tag.substr(1, tag.size() - 2);
    return tag;
}

}  // namespace

void check_if_match(const Request& request, std::string_view etag) {
    const std::string* wanted = request.headers.find("If-Match");
    if (!wanted) return;
    for (const std::string& tag : split(*wanted, ','))
        if (plain_tag(tag) == "*" || plain_tag(tag) == etag) return;
    const std::string_view given = plain_tag(*wanted);
    throw Error(ErrorCode::precondition_failed,
                "ETag doesn't match: " + (is_sha256_hex(given) ? std::string(given) : quoted(given)) +
                    " vs " + std::string(etag));
}

Precondition if_match(const Request& request) {
    return [&request](std::string_view etag) { check_if_match(request, etag); };
}

}  // namespace svc::server
