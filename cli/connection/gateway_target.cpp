#include "cli/connection/gateway_target.h"

#include "cli/connection/target.h"
#include "libsvc/base/digest.h"
#include "libsvc/base/strings.h"

namespace svc::cli {
namespace {

constexpr const char* usual_socket = "/run/svc-gateway/unix.socket";

// A token is a secret, so plain HTTP is refused.
Target gateway_target(const Arguments& arguments) {
    Target target;
    try {
        target = Target::parse(arguments.text("gateway-url"));
    } catch (const Error& e) {
        throw UsageError(std::string("--gateway-url: ") + e.what());
    }
    if (!target.tls || !target.unix_path.empty())
        throw UsageError("--gateway-url: https://host:port expected");
    target.server_fingerprint = to_lower(arguments.text("gateway-fingerprint"));
    if (!target.server_fingerprint.empty() && !is_sha256_hex(target.server_fingerprint))
        throw UsageError("--gateway-fingerprint: expected 64 hexadecimal digits");
    return target;
}

GatewayTarget far_gateway(const Arguments& arguments, const Environment& environment) {
    if (arguments.given("gateway-socket"))
        throw UsageError("--gateway-url and --gateway-socket exclude each other");
    GatewayTarget chosen{gateway_target(arguments),
                         arguments.given("token") ? arguments.text("token") : environment.gateway_token};
    if (chosen.token.empty()) throw UsageError("--gateway-url needs --token, or SVC_GATEWAY_TOKEN");
    if (chosen.token.find_first_of(" \t\r\n") != std::string::npos)
        throw UsageError("--token: a token has no spaces or line ends");
    return chosen;
}

}  // namespace

std::vector<Flag> with_gateway_flags(std::vector<Flag> flags) {
    for (Flag& flag : std::vector<Flag>{
             {"gateway-socket", 0, "PATH",
              "local socket of the gateway (default: $SVC_GATEWAY_SOCKET, else " + std::string(usual_socket) +
                  ")"},
             {"gateway-url", 0, "URL", "gateway to speak to, https://host:port"},
             {"gateway-fingerprint", 0, "HEX", "SHA-256 of the only certificate --gateway-url may present"},
             {"token", 0, "TOKEN", "of an account, for --gateway-url (default: $SVC_GATEWAY_TOKEN)"}})
        flags.push_back(std::move(flag));
    return flags;
}

GatewayTarget choose_gateway(const Arguments& arguments, const Environment& environment) {
    for (const Flag& flag : global_flags())
        if (flag.name != "help" && arguments.given(flag.name))
            throw UsageError("--" + flag.name +
                             " is of the management service; see --gateway-socket and --gateway-url");
    if (arguments.given("gateway-url")) return far_gateway(arguments, environment);
    for (const auto* name : {"gateway-fingerprint", "token"})
        if (arguments.given(name)) throw UsageError(std::string("--") + name + " needs --gateway-url");
    GatewayTarget chosen;
    chosen.target.unix_path = arguments.given("gateway-socket")     ? arguments.text("gateway-socket")
                              : !environment.gateway_socket.empty() ? environment.gateway_socket
                                                                    : usual_socket;
    return chosen;
}

}  // namespace svc::cli
