#pragma once
// Chooses the stream gateway of a command.
#include <string>
#include <vector>

#include "cli/command_line/command.h"
#include "cli/connection/context.h"

namespace svc::cli {

// `flags` and the flags that every gateway command has:
// --gateway-socket, --gateway-url,
// --gateway-fingerprint and --token.
std::vector<Flag> with_gateway_flags(std::vector<Flag> flags = {});

struct GatewayTarget {
    Target target;
    std::string token;  // of an account; "": the local socket needs none
};

// By precedence: --gateway-url, --gateway-socket, SVC_GATEWAY_SOCKET, the usual socket. Throws UsageError
// when flags contradict each other.
GatewayTarget choose_gateway(const Arguments& arguments, const Environment& environment);

}  // namespace svc::cli
