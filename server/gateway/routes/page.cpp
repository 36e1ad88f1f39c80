// The web client: index.html at /, what it uses at /web/.
#include "libsvc/base/strings.h"
#include "server/gateway/routes/routes.h"
#include "server/gateway/web_files.h"

namespace svc::gateway {

namespace {

// The page loads nothing from other hosts and has no inline scripts or styles. It may connect to any gateway.
// The pages that may have it in a frame follow.
constexpr std::string_view content_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "media-src 'self' blob: mediastream:; font-src 'self'; manifest-src 'self'; "
    "connect-src 'self' ws: wss:; base-uri 'none'; form-action 'none'; frame-ancestors";

std::string content_policy_of(const RouteContext& context) {
    const auto& ancestors = context.frame_ancestors;
    return std::string(content_policy) + " " + (ancestors.empty() ? "'none'" : join(ancestors, " "));
}

}  // namespace

std::vector<Route> page_routes(const RouteContext& context) {
    const std::string policy = content_policy_of(context);
    std::vector<Route> routes;
    for (const server::WebFile& file : web_files()) {
        const std::string path =
            file.path == "index.html" ? std::string("/") : "/web/" + std::string(file.path);
        routes.push_back({Method::get, path, Access::everyone, Dispatch::on_io_thread, "web_page",
                          [&file, policy](Request& request) { return web_file(file, request, policy); }});
    }
    return routes;
}

}  // namespace svc::gateway
