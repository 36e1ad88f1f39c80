#include "server/http/web_files.h"

#include "libsvc/base/digest.h"
#include "libsvc/base/strings.h"
#include "server/http/if_none_match.h"

namespace svc::server {

namespace {

// Every browser names it plainly; one that weighs its wishes (";q=0") gets the plain file.
bool takes(const Request& request, std::string_view coding) {
    for (const std::string& known : split(request.headers.get("Accept-Encoding"), ','))
        if (trim(known) == coding) return true;
    return false;
}

// A browser keeps the policy of a page that has not changed: another policy makes it another page.
std::string tag_of(const WebFile& file, std::string_view content_policy) {
    constexpr std::size_t digits = 16;
    return std::string(file.etag.substr(0, file.etag.size() - 1)) + "-" +
           sha256_hex(content_policy).substr(0, digits) + '"';
}

}  // namespace

Response web_file(const WebFile& file, const Request& request, std::string_view content_policy) {
    const std::string etag = tag_of(file, content_policy);
    Response response;
    response.headers.set("ETag", etag);
    response.headers.set("Cache-Control", "no-cache");  // asked for each time, sent when it changed
    response.headers.set("Vary", "Accept-Encoding");
    response.headers.set("Content-Security-Policy", std::string(content_policy));
    response.headers.set("Referrer-Policy", "no-referrer");
    response.headers.set("X-Content-Type-Options", "nosniff");
    if (is_known(request, etag)) {
        response.status = 304;
        return response;
    }
    response.headers.set("Content-Type", std::string(file.content_type));
    const bool packed = !file.coding.empty() && takes(request, file.coding);
    if (packed) response.headers.set("Content-Encoding", std::string(file.coding));
    response.body = packed ? file.compressed : file.content;
    return response;
}

}  // namespace svc::server
