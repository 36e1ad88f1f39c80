#include "server/gateway/client_url.h"

#include <algorithm>
#include <cctype>

#include "libsvc/base/error.h"
#include "libsvc/net/client/target.h"

namespace svc::gateway {

namespace {

bool is_host_character(unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_' || c == ':' || c == '[' || c == ']';
}

// What a client sends there is put into an address that a browser opens: nothing but a host and a port.
void check_host(const std::string& host) {
    const bool plain = host.size() <= 260 && std::all_of(host.begin(), host.end(), is_host_character);
    try {
        if (!plain || host.ends_with(':')) throw Error(ErrorCode::invalid_argument, "malformed");
        const std::string name = Target::parse("https://" + host).host;
        const bool address = host.starts_with('[');
        if ((name.find(':') != std::string::npos) != address || name.find_first_of("[]") != std::string::npos)
            throw Error(ErrorCode::invalid_argument, "malformed");
    } catch (const Error&) {
        throw Error(ErrorCode::invalid_argument, "Host header is invalid");
    }
}

}  // namespace

std::string websocket_url(std::string_view base, std::string_view path) {
    constexpr std::string_view http = "http";
    std::string url =
        base.starts_with(http) ? "ws" + std::string(base.substr(http.size())) : std::string(base);
    return url.append(path);
}

std::string client_base(const Request& request, const std::string& public_url, const std::string& local) {
    if (!public_url.empty()) return public_url;
    if (request.peer->transport == Transport::unix_socket) return local;
    const std::string host = request.headers.get("Host");
    check_host(host);
    return (request.peer->transport == Transport::https ? "https://" : "http://") + host;
}

}  // namespace svc::gateway
