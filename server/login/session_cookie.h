#pragma once
// The cookie of a browser that is logged in, and the key that its page shows with it (docs/trust.md).
#include <string>
#include <string_view>

#include "libsvc/net/http/request.h"
#include "libsvc/net/http/response.h"

namespace svc::server {

// `__Host-`: browsers take it from the host itself alone, over TLS alone.
inline constexpr std::string_view session_cookie_name = "__Host-svc-session";

// With each request of the page; managers pass it on to their leader.
inline constexpr std::string_view session_key_header = "X-Svc-Session-Key";

// The value of Set-Cookie. No script can read the cookie, and no page of another site makes the browser send
// it; pages on other ports of this host do, and the programs behind them get it. The browser keeps it until
// it is closed; the session may end before.
std::string session_cookie(std::string_view secret);
std::string ended_session_cookie();  // the browser forgets it

// The secret of the request's cookie; "" where there is none, and for requests that did not come by the API's
// TLS listener: cookies count nowhere else.
std::string session_secret(const Request& request);

// The key that the page shows: of the header, or of a WebSocket, to which pages can give no header, the
// subprotocol "svc-session-key.KEY". "": it shows none.
std::string session_key(const Request& request);

// Whether the user does something. What a page asks and connects by itself keeps no session alive: such
// requests have the header X-Svc-Background.
bool is_use(const Request& request);

// The secret of the session that the response opens; "" where it opens none.
std::string opened_secret(const Response& response);

}  // namespace svc::server
