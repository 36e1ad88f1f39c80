#pragma once
// Reads a command line against a command table, by means of CLI11.
#include <string>
#include <vector>

#include "cli/command_line/command_table.h"

namespace svc::cli {

// What the user asked for. `command` belongs to the table; it is null when the user asked for the help of the
// program or of a group.
struct Invocation {
    const Command* command = nullptr;
    std::string group;  // whose help is wanted; "": the program's
    bool help = false;
    bool version = false;  // --version in place of a command
    Arguments arguments;
};

// `words` are those behind the program's name. Words after "--" are positional arguments whatever they look
// like. Throws UsageError.
Invocation parse_command_line(const CommandTable& table, const std::vector<std::string>& words);

}  // namespace svc::cli
