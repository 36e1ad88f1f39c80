#pragma once
// The commands of a program as one value: parser, help and completion scripts read it.
#include <string>
#include <vector>

#include "cli/command_line/command.h"

namespace svc::cli {

struct CommandTable {
    std::vector<Command> commands;  // in the order of the help
    std::vector<Group> groups;
    std::vector<Flag> global_flags;  // flags that every command takes

    // The command that the leading words name, by path or alias; sets `words_used` to their number. Null when
    // no command has this name.
    const Command* find(const std::vector<std::string>& words, std::size_t& words_used) const;
    // The leading words that name a group, or a group within a group, in their long form:
    // {"instance", "camera"}. Empty when the first word is no group.
    std::vector<std::string> group_words(const std::vector<std::string>& words) const;
    // The words that may follow those of `group` (empty: that may come first): commands and their aliases,
    // groups.
    std::vector<std::string> words_after(const std::vector<std::string>& group) const;
};

}  // namespace svc::cli
