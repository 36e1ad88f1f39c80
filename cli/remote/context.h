#pragma once
// What a running command has at hand.
#include <filesystem>
#include <memory>
#include <string>

#include "cli/line/command.h"
#include "cli/remote/config.h"
#include "cli/terminal/console.h"
#include "libsvc/client/api_client.h"
#include "libsvc/client/gateway_client.h"

namespace svc::cli {

// All that comes from the process's surroundings; main() reads it, tests set it.
struct Environment {
    int in = 0, out = 1, err = 2;
    std::string socket;                      // SVC_SOCKET
    std::filesystem::path config_directory;  // "": none can be found
    std::string terminal;                    // TERM
    std::string gateway_socket;              // SVC_GATEWAY_SOCKET
    std::string gateway_token;               // SVC_GATEWAY_TOKEN
};

// One thread.
class Context {
  public:
    Context(const Environment& environment, const Arguments& arguments);
    ~Context();
    const Console& console() const { return console_; }
    const Environment& environment() const { return environment_; }
    Target target() const;     // as the global flags say; throws UsageError
    ApiClient& client();       // made at the first call
    GatewayClient& gateway();  // the same; throws UsageError
    // What to tell a user of whom `reason` kept us from the service that was asked.
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
