#include "cli/command_line/command_table.h"

#include <algorithm>

namespace svc::cli {
namespace {

bool names(const Command& command, const std::vector<std::string>& words) {
    const std::size_t length = command.path.size();
    if (words.size() < length) return false;
    if (!std::equal(command.path.begin(), command.path.end() - 1, words.begin())) return false;
    const std::string& last = words[length - 1];
    return last == command.path.back() ||
           std::find(command.aliases.begin(), command.aliases.end(), last) != command.aliases.end();
}

// The long form of a group's word.
std::string long_word(const std::string& word) {
    return word == "app" ? "application" : word;
}

}  // namespace

const Command* CommandTable::find(const std::vector<std::string>& given, std::size_t& words_used) const {
    std::vector<std::string> words = given;
    if (!words.empty()) words.front() = long_word(words.front());
    for (const Command& command : commands) {
        if (!names(command, words)) continue;
        words_used = command.path.size();
        return &command;
    }
    return nullptr;
}

std::vector<std::string> CommandTable::group_words(const std::vector<std::string>& words) const {
    if (words.empty()) return {};
    const std::string first = long_word(words[0]);
    const auto is_group = [&](const Group& group) { return group.name == first; };
    if (std::none_of(groups.begin(), groups.end(), is_group)) return {};
    const auto is_within = [&](const Command& command) {
        return command.path.size() > 2 && command.path[0] == first && command.path[1] == words[1];
    };
    if (words.size() > 1 && std::any_of(commands.begin(), commands.end(), is_within))
        return {first, words[1]};
    return {first};
}

std::vector<std::string> CommandTable::words_after(const std::vector<std::string>& group) const {
    std::vector<std::string> words;
    for (const Command& command : commands) {
        const auto& path = command.path;
        if (path.size() <= group.size() || !std::equal(group.begin(), group.end(), path.begin())) continue;
        words.push_back(path[group.size()]);
        if (path.size() == group.size() + 1)
            words.insert(words.end(), command.aliases.begin(), command.aliases.end());
    }
    return words;
}

}  // namespace svc::cli
