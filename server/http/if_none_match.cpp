#include "server/http/if_none_match.h"

#include "libsvc/base/strings.h"

namespace svc::server {

bool is_known(const Request& request, std::string_view etag) {
    const auto weakly = [](std::string_view tag) {
        if (tag.starts_with("W/")) tag.remove_prefix(2);
        return tag;
    };
    for (const std::string& tag : split(request.headers.get("If-None-Match"), ','))
        if (trim(tag) == "*" || weakly(trim(tag)) == weakly(etag)) return true;
    return false;
}

}  // namespace svc::server
