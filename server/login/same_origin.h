#pragma once
// Other sites' pages may make a browser send requests to this service, with its cookie or its certificate.
// Browsers say so in headers that no page can change; other clients send none of them.
#include "libsvc/net/http/request.h"

namespace svc::server {

// For requests over TLS. Throws forbidden when the request changes something or opens a WebSocket, and its
// headers say that a page of another origin has sent it: `Origin` is not https://<Host>, or `Sec-Fetch-Site`
// names another site. With `by_cookie` one of the headers must say that the page is of this origin.
void check_origin(const Request& request, bool by_cookie);

}  // namespace svc::server
