#pragma once
// Origins of web pages, as a Content-Security-Policy names them.
#include <string_view>

namespace svc {

inline constexpr std::string_view web_origin_rule =
    "an origin https://HOST or https://HOST:PORT, without a path";

// HOST is a name or an IPv4 address: a Content-Security-Policy knows no others, and what is no part of an
// origin would change what the policy says.
bool is_web_origin(std::string_view text);

}  // namespace svc
