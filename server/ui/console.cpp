#include "server/ui/console.h"

#include "server/http/web_files.h"
#include "server/ui/console_files.h"

namespace svc::server {

namespace {

constexpr std::string_view root = "/ui";

// Everything comes from the service itself; no inline script; the frame of one other origin, the gateway's.
constexpr std::string_view page_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src 'self' "
    "blob:; "
    "font-src 'self'; manifest-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; frame-src 'self'";
// The terminal's library writes `style` attributes. Its page is a frame of the console, and loads no data.
constexpr std::string_view terminal_policy =
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src "
    "'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

std::string policy_of(const WebFile& file, const ConfigService& config) {
    if (file.path == "terminal.html") return std::string(terminal_policy);
    const std::string gateway = config.text("console.gateway_url");
    return std::string(page_policy) + (gateway.empty() ? "" : " " + gateway);
}

std::string url_of(const WebFile& file) {
    return std::string(root) + (file.path == "index.html" ? std::string() : "/" + std::string(file.path));
}

}  // namespace

std::vector<Route> console_routes(const ConfigService& config) {
    std::vector<Route> routes;
    for (const WebFile& file : console_files())
        routes.push_back({Method::get, url_of(file), Access::everyone, Dispatch::on_io_thread, "console",
                          [&file, &config](Request& request) {
                              return web_file(file, request, policy_of(file, config));
                          }});
    return routes;
}

}  // namespace svc::server
