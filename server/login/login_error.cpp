#include "server/login/login_error.h"

#include "libsvc/base/strings.h"

namespace svc::server {

namespace {

constexpr std::string_view page = "/ui/#login-error=";

}  // namespace

Response login_error(std::string_view text) {
    Response response;
    response.status = 303;
    response.headers.set("Location", std::string(page) + percent_encode(text));
    response.headers.set("Cache-Control", "no-store");
    return response;
}

std::string login_error_in(const Response& response) {
    const std::string location = response.headers.get("Location");
    return location.starts_with(page) ? percent_decode(location.substr(page.size())) : "";
}

}  // namespace svc::server
