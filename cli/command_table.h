#pragma once
// Every command there is, in the order of the help.
#include <string_view>
#include <vector>

#include "cli/command.h"

namespace svc::cli {

const std::vector<Command>& all_commands();
const std::vector<Group>& all_groups();

// The command that the leading words name, by path or alias; `words_used` tells how many. Null: there is
// none.
const Command* find_command(const std::vector<std::string>& words, std::size_t& words_used);
const Group* find_group(std::string_view word);  // null: no such group

}  // namespace svc::cli
