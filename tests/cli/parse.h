#pragma once
#include "cli/command_line/parser.h"
#include "cli/commands/all_commands.h"

namespace svc::test {

// What svcctl makes of these words.
inline cli::Invocation parse(const std::vector<std::string>& words) {
    return cli::parse_command_line(cli::all_commands(), words);
}

}  // namespace svc::test
