#pragma once
// What a command gets when it runs: environment, console, clients.
#include <filesystem>
#include <memory>
#include <string>

#include "cli/command_line/command.h"
#include "cli/connection/client_config.h"
#include "cli/terminal/console.h"
#include "libsvc/client/api_client.h"
#include "libsvc/client/gateway_client.h"

namespace svc::cli {

// Standard streams and environment variables. main() reads them, tests set them.
struct Environment {
    int in = 0, out = 1, err = 2;
    std::string socket;                      // SVC_SOCKET
    std::filesystem::path config_directory;  // "": unknown, HOME is not set
    std::string terminal;                    // TERM
    std::string gateway_socket;              // SVC_GATEWAY_SOCKET
    std::string gateway_token;               // SVC_GATEWAY_TOKEN
    bool has_display = false;                // DISPLAY or WAYLAND_DISPLAY
};

// One thread.
class Context {
  public:
    Context(const Environment& environment, const Arguments& arguments);
    ~Context();
    const Console& console() const { return console_; }
    const Environment& environment() const { return environment_; }
    Target target() const;     // the service that the global flags name; throws UsageError
    ApiClient& client();       // connects at the first call
    GatewayClient& gateway();  // the same for the gateway; throws UsageError
    // The message for a user whose service (or gateway) could not be reached, because of `reason`.
    std::string explain_unreachable(const std::string& reason) const;
    Config config() const { return Config(environment_.config_directory); }

  private:
    const Environment& environment_;
    const Arguments& arguments_;
    Console console_;
    std::unique_ptr<ApiClient> client_;
    std::unique_ptr<GatewayClient> gateway_;
};

}  // namespace svc::cli
