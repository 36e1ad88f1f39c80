#pragma once
// Which stream gateway is spoken to.
#include <string>
#include <vector>

#include "cli/line/command.h"
#include "cli/remote/context.h"

namespace svc::cli {

// The flags of every gateway command, after `flags`: --gateway-socket, --gateway-url, --gateway-fingerprint,
// --token.
std::vector<Flag> with_gateway_flags(std::vector<Flag> flags = {});

struct GatewayPlace {
    Target target;
    std::string token;  // "": the local socket, which needs none
};

// By precedence: --gateway-url, --gateway-socket, SVC_GATEWAY_SOCKET, the usual socket. Throws UsageError
// when flags contradict each other.
GatewayPlace choose_gateway(const Arguments& arguments, const Environment& environment);

}  // namespace svc::cli
