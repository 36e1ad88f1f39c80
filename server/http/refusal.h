#pragma once
// How our services refuse requests, whatever the form of their answers.
#include <exception>
#include <functional>
#include <string>

#include "libsvc/net/server/server.h"

namespace svc::server {

struct Refusal {
    int status = 500;
    std::string message;
};
// Error texts reach the client; anything else becomes "internal error". Logs what is our fault, with its
// details.
Refusal refusal_of(const std::exception& error);

// Calls a handler and makes answers of what it throws.
using Runner = std::function<Response(const Handler& handler, Request& request)>;
// Refuses before the body is read, however long it is, with the error as it was thrown.
RequestPlan refused(const Request& request, const std::exception_ptr& reason, Runner run);

}  // namespace svc::server
