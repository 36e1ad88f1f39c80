#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace svc::agent {

enum class Automotive { automatic, yes, no };
enum class Phase { before_guest, with_guest, after_guest };

struct Options {
    std::filesystem::path session = "/var/lib/svc-agent/session.json";
    std::filesystem::path api_socket = "/run/svc/api.unix";
    std::filesystem::path guest_socket = "/run/svc/guest.unix";
    std::filesystem::path vhal_config;  // "": the built-in properties
    Automotive automotive = Automotive::automatic;
    std::string log_level;  // "": as it was set last, else info
    Phase phase = Phase::with_guest;
    std::vector<std::string> init;  // before_guest: what to become, with its arguments
    int exit_code = 0;              // after_guest: of the guest
};

// Prints and returns nothing for --help and --version. Throws invalid_argument for anything it does not know.
std::optional<Options> parse_options(int argc, char** argv);

}  // namespace svc::agent
