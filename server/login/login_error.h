#pragma once
// How a browser is told that its user could not log in: it is led to the console, which shows the text.
#include <string>
#include <string_view>

#include "libsvc/net/http/response.h"

namespace svc::server {

Response login_error(std::string_view text);
// The text, in a response that login_error() made; "" of others.
std::string login_error_in(const Response& response);

}  // namespace svc::server
