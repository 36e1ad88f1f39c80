#pragma once
// Help texts, made from the command table.
#include <string>
#include <string_view>

#include "cli/line/command.h"

namespace svc::cli {

std::string program_help();
std::string group_help(std::string_view group);
std::string command_help(const Command& command);

}  // namespace svc::cli
