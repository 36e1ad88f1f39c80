#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "libsvc/base/log.h"

namespace svc::agent {

enum class Phase { before_guest, with_guest, after_guest };

struct Options {
    std::filesystem::path session = "/var/lib/svc-agent/session.json";
    log::Level log_level = log::Level::info;
    Phase phase = Phase::with_guest;
    std::vector<std::string> init;  // before_guest: what to become, with its arguments
    int exit_code = 0;              // after_guest: of the guest
};

// Prints and returns nothing for --help and --version. Throws invalid_argument for anything it does not know.
std::optional<Options> parse_options(int argc, char** argv);

}  // namespace svc::agent
