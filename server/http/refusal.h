#pragma once
// What a client is told of an error, in svcd's and svc-gateway's replies alike.
#include <exception>
#include <string>

namespace svc::server {

struct Refusal {
    int status = 500;  // of HTTP
    std::string message;
};
// The text of an Error reaches the client; any other exception becomes "internal error". Faults of the server
// are logged with their text.
Refusal refusal_of(const std::exception& error);

}  // namespace svc::server
