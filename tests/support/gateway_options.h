#pragma once
// Options of a gateway on a free port of the loopback, its files in a directory of the test's, with one
// region.
#include <filesystem>

#include "server/gateway/options.h"

namespace svc::test {

inline gateway::Options loopback_gateway_options(const std::filesystem::path& directory) {
    gateway::Options options;
    options.state_dir = directory / "state";
    options.socket = directory / "gateway.socket";
    options.listen = "127.0.0.1:0";
    options.log_level = log::Level::error;
    options.regions = {{"home", {"https://127.0.0.1:1"}, "", "", "", ""}};
    return options;
}

}  // namespace svc::test
