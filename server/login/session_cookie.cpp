#include "server/login/session_cookie.h"

#include "libsvc/base/strings.h"
#include "server/login/cookies.h"

namespace svc::server {

namespace {

constexpr std::size_t secret_digits = 64;  // others are looked up by nobody
constexpr std::string_view key_protocol = "svc-session-key.";
constexpr std::string_view cookie_attributes = "; Path=/; Secure; HttpOnly; SameSite=Strict";

// The secret of "name=value" if that is the session's cookie; "" of others.
std::string secret_in(std::string_view cookie) {
    const std::size_t equals = cookie.find('=');
    if (equals == std::string_view::npos || cookie.substr(0, equals) != session_cookie_name) return {};
    const std::string_view value = cookie.substr(equals + 1);
    return value.size() == secret_digits ? std::string(value) : std::string();
}

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
    std::string secret = cookie_of(request, session_cookie_name);
    return secret.size() == secret_digits ? secret : std::string();
}

std::string session_key(const Request& request) {
    if (const std::string* const key = request.headers.find(session_key_header)) return *key;
    for (const std::string& part : split(request.headers.get("Sec-WebSocket-Protocol"), ',')) {
        const std::string_view protocol = trim(part);
        if (protocol.starts_with(key_protocol)) return std::string(protocol.substr(key_protocol.size()));
    }
    return {};
}

bool is_use(const Request& request) {
    return !request.wants_websocket() && !request.headers.find("X-Svc-Background");
}

std::string opened_secret(const Response& response) {
    const std::string header = response.headers.get("Set-Cookie");
    return secret_in(header.substr(0, header.find(';')));
}

}  // namespace svc::server
