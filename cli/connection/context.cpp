#include "cli/connection/context.h"

#include "cli/connection/gateway_target.h"
#include "cli/connection/target.h"

namespace svc::cli {

Context::Context(const Environment& environment, const Arguments& arguments)
    : environment_(environment),
      arguments_(arguments),
      console_(environment.in, environment.out, environment.err) {}

Context::~Context() = default;

Target Context::target() const {
    return choose_target(arguments_, environment_.socket, environment_.config_directory);
}

ApiClient& Context::client() {
    if (!client_) client_ = std::make_unique<ApiClient>(target());
    return *client_;
}

GatewayClient& Context::gateway() {
    if (!gateway_) {
        GatewayTarget chosen = choose_gateway(arguments_, environment_);
        gateway_ = std::make_unique<GatewayClient>(std::move(chosen.target), std::move(chosen.token));
    }
    return *gateway_;
}

std::string Context::explain_unreachable(const std::string& reason) const {
    if (gateway_) return cli::explain_unreachable(gateway_->target(), reason, "svc-gateway", "");
    return cli::explain_unreachable(target(), reason, "svcd", "svc");
}

}  // namespace svc::cli
