#pragma once
// Help texts, made from a command table.
#include <string>
#include <string_view>

#include "cli/command_line/command_table.h"

namespace svc::cli {

std::string program_help(const CommandTable& table);
std::string group_help(const CommandTable& table, std::string_view group);
std::string command_help(const CommandTable& table, const Command& command);

}  // namespace svc::cli
