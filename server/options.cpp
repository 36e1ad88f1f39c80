#include "server/options.h"

#include "server/settings.h"

namespace svc::server {

PeerOptions peer_options(const Options& options) {
    return {options.lxc.peers, options.lxc.cluster_routes, options.first_port, options.last_port};
}

Invocation read_options(int argc, const char* const* argv, const std::filesystem::path& default_config) {
    Invocation invocation;
    Options& options = invocation.options;
    process::CommandLine line{
        "svcd",
        "instance management service; svcd check, recover, export, import: tools for a state directory",
        default_config,
        process::bind(settings(), options),
        {{"--check-config", "check flags and file, then exit", options.check_only},
         {"--tear-down",
          "remove every container, the bridge and the rules of this state directory, then exit",
          options.tear_down}}};
    if (const auto status = process::read_configuration(line, argc, argv)) return {{}, true, *status};
    options.config = line.config;
    return invocation;
}

}  // namespace svc::server
