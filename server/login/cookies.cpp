#include "server/login/cookies.h"

#include "libsvc/base/strings.h"
#include "server/login/authenticate.h"

namespace svc::server {

std::string cookie_of(const Request& request, std::string_view name) {
    if (request.peer->listener != tls_listener) return {};
    const std::string* const header = request.headers.find("Cookie");
    if (!header) return {};
    for (const std::string& part : split(*header, ';')) {
        const std::string_view cookie = trim(part);
        const std::size_t equals = cookie.find('=');
        if (equals != std::string_view::npos && cookie.substr(0, equals) == name)
            return std::string(cookie.substr(equals + 1));
    }
    return {};
}

}  // namespace svc::server
