#pragma once
// The command lines of `svc-agent ctl`, which does in the instance what `svcctl instance` asks for.
#include <string>
#include <vector>

#include "cli/line/command.h"
#include "cli/remote/context.h"

namespace svc::cli {

// {".../svc-agent", "ctl", words...}. What the user wrote stands behind "--", so that nothing of it is taken
// for a flag.
std::vector<std::string> ctl_command(std::vector<std::string> words,
                                     const std::vector<std::string>& plain = {});
// The same of a command whose path is "instance" and these words: all its flags and arguments but <id> are
// passed on.
std::vector<std::string> ctl_command(const Command& command, const Arguments& arguments);

// Joined to these descriptors; an input of -1 is empty. Returns the exit status.
struct CtlStreams {
    int in = -1;
    int out = -1;  // -1: our own
};
int run_ctl(Context& context, const std::string& instance, std::vector<std::string> command,
            CtlStreams streams = {});

}  // namespace svc::cli
