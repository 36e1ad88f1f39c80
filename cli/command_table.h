#pragma once
// Every command there is, in the order of the help.
#include <string_view>
#include <vector>

#include "cli/line/command.h"

namespace svc::cli {

const std::vector<Command>& all_commands();
const std::vector<Group>& all_groups();

// The command that the leading words name, by path or alias; `words_used` tells how many. Null: there is
// none.
const Command* find_command(const std::vector<std::string>& words, std::size_t& words_used);
// Those at the beginning that name a group, or one in a group, by their long names: {"instance", "camera"}.
std::vector<std::string> group_words(const std::vector<std::string>& words);
// What may come after a group's words, or first of all: commands, their aliases, groups.
std::vector<std::string> words_after(const std::vector<std::string>& group);

}  // namespace svc::cli
