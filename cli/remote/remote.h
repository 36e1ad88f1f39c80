#pragma once
// Which service is spoken to.
#include <filesystem>
#include <string>

#include "cli/line/command.h"
#include "cli/remote/config.h"
#include "libsvc/net/client/target.h"

namespace svc::cli {

// The flags every command has: --socket, --remote, --url, --cert, --key, --server-fingerprint, --help.
const std::vector<Flag>& global_flags();

// By precedence: --url, --remote, --socket, `socket_of_environment` (SVC_SOCKET), the default remote.
// Throws UsageError when flags contradict each other.
Target choose_target(const Arguments& arguments, const std::string& socket_of_environment,
                     const std::filesystem::path& config_directory);

Target target_of(const Remote& remote, const Config& config);

// What to tell a user whose service could not be reached: names the socket, the program behind it and how to
// get permission to use it. `group`: that may use the socket besides root; "": none.
std::string explain_unreachable(const Target& target, const std::string& reason, const std::string& program,
                                const std::string& group);

}  // namespace svc::cli
