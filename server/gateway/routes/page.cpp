// The web client: index.html at /, what it uses at /web/.
#include "libsvc/base/strings.h"
#include "server/gateway/routes/routes.h"
#include "server/gateway/web_files.h"

namespace svc::gateway {

namespace {

// The page loads nothing from other hosts and has no inline scripts or styles. It may connect to any gateway.
constexpr std::string_view content_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "media-src 'self' blob: mediastream:; font-src 'self'; manifest-src 'self'; "
    "connect-src 'self' ws: wss:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

bool is_known(const Request& request, std::string_view etag) {
    for (const std::string& tag : split(request.headers.get("If-None-Match"), ',')) {
        std::string_view given = trim(tag);
        if (given.starts_with("W/")) given.remove_prefix(2);
        if (given == "*" || given == etag) return true;
    }
    return false;
}

Response show_file(const WebFile& file, const Request& request) {
    Response response;
    response.headers.set("ETag", std::string(file.etag));
    response.headers.set("Cache-Control", "no-cache");  // asked for each time, sent when it changed
    response.headers.set("Content-Security-Policy", std::string(content_policy));
    response.headers.set("Referrer-Policy", "no-referrer");
    if (is_known(request, file.etag)) {
        response.status = 304;
        return response;
    }
    response.headers.set("Content-Type", std::string(file.content_type));
    response.body = file.content;
    return response;
}

}  // namespace

std::vector<Route> page_routes() {
    std::vector<Route> routes;
    for (const WebFile& file : web_files()) {
        const std::string path =
            file.path == "index.html" ? std::string("/") : "/web/" + std::string(file.path);
        routes.push_back({Method::get, path, Access::everyone, Dispatch::on_io_thread, "web_page",
                          [&file](Request& request) { return show_file(file, request); }});
    }
    return routes;
}

}  // namespace svc::gateway
