#include <csignal>
#include <cstdlib>
#include <string>
#include <vector>

#include "cli/run.h"

namespace {

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
}

std::filesystem::path config_directory() {
    if (const std::string own = variable("SVC_CONFIG_DIR"); !own.empty()) return own;
    if (const std::string base = variable("XDG_CONFIG_HOME"); !base.empty())
        return std::filesystem::path(base) / "svcctl";
    if (const std::string home = variable("HOME"); !home.empty())
        return std::filesystem::path(home) / ".config/svcctl";
    return {};
}

}  // namespace

int main(int argc, char** argv) {
    std::signal(SIGPIPE, SIG_IGN);
    svc::cli::Environment environment;
    environment.socket = variable("SVC_SOCKET");
    environment.config_directory = config_directory();
    environment.gateway_socket = variable("SVC_GATEWAY_SOCKET");
    environment.gateway_token = variable("SVC_GATEWAY_TOKEN");
    environment.has_display = !variable("DISPLAY").empty() || !variable("WAYLAND_DISPLAY").empty();
    environment.terminal = variable("TERM");
    return svc::cli::run(std::vector<std::string>(argv + 1, argv + argc), environment);
}
