#pragma once
// Completion scripts for shells, made from a command table.
#include <string>

#include "cli/command_line/command_table.h"

namespace svc::cli {

std::string bash_completion(const CommandTable& table);
std::string zsh_completion(const CommandTable& table);
std::string fish_completion(const CommandTable& table);

}  // namespace svc::cli
