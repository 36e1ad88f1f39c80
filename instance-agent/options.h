#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "libsvc/base/log.h"

namespace svc::agent {

struct Options {
    std::filesystem::path session = "/var/lib/svc-agent/session.json";
    log::Level log_level = log::Level::info;
};

// Prints and returns nothing for --help and --version. Throws invalid_argument for anything it does not know.
std::optional<Options> parse_options(int argc, char** argv);

}  // namespace svc::agent
