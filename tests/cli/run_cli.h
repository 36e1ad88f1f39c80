#pragma once
// svcctl inside the test's process.
#include <filesystem>
#include <string>
#include <vector>

#include "cli/connection/context.h"

namespace svc::test {

struct CliRun {
    int status = 0;
    std::string out, err;
};

struct CliSettings {
    std::string socket = "/nonexistent/svc.socket";  // SVC_SOCKET
    std::string input;
    std::filesystem::path config_directory;
    std::string gateway_socket = "/nonexistent/gateway.socket";  // SVC_GATEWAY_SOCKET
    std::string gateway_token = "";                              // SVC_GATEWAY_TOKEN
};

CliRun run_cli(const std::vector<std::string>& words, const CliSettings& settings = {});

}  // namespace svc::test
