#pragma once
// Internal to the folder net: writes the status line and header of a response.
#include <cstdint>
#include <optional>
#include <string>

#include "libsvc/net/http/response.h"

namespace svc::net {

struct ReplyFraming {
    bool keep = true;
    bool chunked = false;
    std::optional<std::uint64_t> length;  // Content-Length, where there is one
};

// Control characters in values, which would end a line early, are left out.
std::string reply_head(const Response& response, const ReplyFraming& framing);
// "Switching Protocols", answering the key of the request.
std::string upgrade_head(const Response& response, std::string_view websocket_key);
// No body may follow.
bool is_bodiless(int status);

bool is_websocket_key(std::string_view key);
std::string websocket_accept(std::string_view key);

}  // namespace svc::net
