#pragma once
// The table of every command of svcctl, in the order of the help.
#include "cli/command_line/command_table.h"

namespace svc::cli {

// Made at the first call; lives as long as the program.
const CommandTable& all_commands();

}  // namespace svc::cli
