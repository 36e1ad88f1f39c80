#pragma once
// Where clients find this gateway, for the WebSocket addresses they are handed.
#include <string>
#include <string_view>

#include "libsvc/net/http/request.h"

namespace svc::gateway {

// "https://gw.example:4000" and "/1.0/..." to "wss://gw.example:4000/1.0/...".
std::string websocket_url(std::string_view base, std::string_view path);
// The configured address, or the one the request was sent to. `local` stands for the latter on the local
// socket, where Host says nothing. Throws invalid_argument for a Host header that is none.
std::string client_base(const Request& request, const std::string& public_url, const std::string& local);

}  // namespace svc::gateway
