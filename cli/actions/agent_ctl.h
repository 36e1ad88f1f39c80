#pragma once
// Runs `svc-agent ctl` in an instance: `svcctl instance` passes its commands on to it.
#include <string>
#include <vector>

#include "cli/command_line/command.h"
#include "cli/connection/context.h"

namespace svc::cli {

// {".../svc-agent", "ctl", words...}. `plain` (what the user wrote) stands behind "--", so that svc-agent
// takes none of it for a flag.
std::vector<std::string> ctl_command(std::vector<std::string> words,
                                     const std::vector<std::string>& plain = {});
// The same for a command whose path is "instance" and the words for svc-agent: passes on all its flags and
// arguments but <id>.
std::vector<std::string> ctl_command(const Command& command, const Arguments& arguments);

// The standard streams of the command; `in` -1: empty input.
struct CtlStreams {
    int in = -1;
    int out = -1;  // -1: the client's own stdout
};
int run_ctl(Context& context, const std::string& instance, std::vector<std::string> command,
            CtlStreams streams = {});

}  // namespace svc::cli
