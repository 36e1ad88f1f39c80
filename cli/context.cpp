#include "cli/context.h"

#include "cli/remote.h"

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

}  // namespace svc::cli
