#pragma once
// Reads a command line against the command table.
#include <string>
#include <vector>

#include "cli/line/command.h"

namespace svc::cli {

// What the user asked for. `command` is null when help is wanted for the program or for a group.
struct Invocation {
    const Command* command = nullptr;
    std::string group;  // "": the program itself
    bool help = false;
    bool version = false;  // --version in place of a command
    Arguments arguments;
};

// `words` without the program's name. Everything after "--" is taken as it is, for the last positional.
// Throws UsageError.
Invocation parse_command_line(const std::vector<std::string>& words);

}  // namespace svc::cli
