#pragma once
// Chooses the service of a command.
#include <filesystem>
#include <string>

#include "cli/command_line/command.h"
#include "cli/connection/client_config.h"
#include "libsvc/net/client/target.h"

namespace svc::cli {

// The flags that every command has: --socket, --remote, --url, --cert, --key, --server-fingerprint, --help.
const std::vector<Flag>& global_flags();

// By precedence: --url, --remote, --socket, `socket_of_environment` (SVC_SOCKET), the default remote.
// Throws UsageError when flags contradict each other.
Target choose_target(const Arguments& arguments, const std::string& socket_of_environment,
                     const std::filesystem::path& config_directory);

Target target_of(const Remote& remote, const Config& config);

// The message for a user whose service could not be reached: the socket, the program that serves it, and how
// to get access. `group`: the group that may use the socket besides root; "": none.
std::string explain_unreachable(const Target& target, const std::string& reason, const std::string& program,
                                const std::string& group);

}  // namespace svc::cli
