#pragma once
// The command-line options of svc-agent.
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "instance-agent/agent/files/socket_folder.h"

namespace svc::agent {

enum class Automotive { automatic, yes, no };
enum class Phase { before_guest, with_guest, after_guest };

struct Options {
    std::filesystem::path session = "/var/lib/svc-agent/session.json";
    std::filesystem::path api_socket = default_api_socket;
    std::filesystem::path guest_socket = default_guest_socket;
    std::filesystem::path vhal_config;  // "": the built-in properties
    Automotive automotive = Automotive::automatic;
    std::string log_level;  // "": the level that was set last, else info
    Phase phase = Phase::with_guest;
    std::vector<std::string> init;  // before_guest: the guest's first program with its arguments
    int exit_code = 0;              // after_guest: the guest's exit code
};

// Prints and returns nothing for --help and --version. Throws invalid_argument for anything it does not know.
std::optional<Options> parse_options(int argc, char** argv);

}  // namespace svc::agent
