#include "server/login/same_origin.h"

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::server {

namespace {

bool has_effect(const Request& request) {
    const bool reads =
        request.method == Method::get || request.method == Method::head || request.method == Method::options;
    return !reads || request.wants_websocket();
}

}  // namespace

// A typed address has the site "none": nothing but a navigation, which changes nothing.
void check_origin(const Request& request, bool by_cookie) {
    if (!has_effect(request)) return;
    const std::string* const origin = request.headers.find("Origin");
    const std::string site = request.headers.get("Sec-Fetch-Site");
    if (origin && !iequals(*origin, "https://" + request.headers.get("Host")))
        throw Error(ErrorCode::forbidden,
                    "requests of pages of another origin are refused: " + quoted(origin->substr(0, 200)));
    if (iequals(site, "cross-site") || iequals(site, "same-site"))
        throw Error(ErrorCode::forbidden, "requests of pages of another origin are refused");
    if (by_cookie && !origin && !iequals(site, "same-origin"))
        throw Error(ErrorCode::forbidden, "a request with a session's cookie needs the header Origin");
}

}  // namespace svc::server
