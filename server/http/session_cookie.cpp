#include "server/http/session_cookie.h"

#include "libsvc/base/strings.h"
#include "server/http/authenticate.h"

namespace svc::server {

namespace {

constexpr std::size_t secret_digits = 64;  // others are looked up by nobody
constexpr std::string_view cookie_attributes = "; Path=/; Secure; HttpOnly; SameSite=Strict";

std::string set_cookie(std::string_view value) {
    return std::string(session_cookie_name) + "=" + std::string(value) + std::string(cookie_attributes);
}

}  // namespace

std::string session_cookie(std::string_view secret) {
    return set_cookie(secret);
}

std::string ended_session_cookie() {
    return set_cookie("") + "; Max-Age=0";
}

std::string session_secret(const Request& request) {
    if (request.peer->listener != tls_listener) return {};
    const std::string* const header = request.headers.find("Cookie");
    if (!header) return {};
    for (const std::string& part : split(*header, ';')) {
        const std::string_view cookie = trim(part);
        const std::size_t equals = cookie.find('=');
        if (equals == std::string_view::npos || cookie.substr(0, equals) != session_cookie_name) continue;
        const std::string_view value = cookie.substr(equals + 1);
        return value.size() == secret_digits ? std::string(value) : std::string();
    }
    return {};
}

}  // namespace svc::server
