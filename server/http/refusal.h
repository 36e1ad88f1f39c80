#pragma once
// What a client is told of an error, in svcd's and svc-gateway's replies alike.
#include <exception>
#include <string>

#include "libsvc/base/error.h"

namespace svc::server {

// Neither the request nor the service is at fault: 503. A manager of several has no leader to ask.
class TryLater : public Error {
  public:
    explicit TryLater(const std::string& message) : Error(ErrorCode::unavailable, message) {}
};

struct Refusal {
    int status = 500;  // of HTTP
    std::string message;
};
// The text of an Error reaches the client; any other exception becomes "internal error". Faults of the server
// are logged with their text.
Refusal refusal_of(const std::exception& error);

}  // namespace svc::server
