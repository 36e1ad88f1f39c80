#include "cli/command_line/help.h"

#include <algorithm>

#include "libsvc/base/strings.h"

namespace svc::cli {
namespace {

using Lines = std::vector<std::pair<std::string, std::string>>;

std::string two_columns(const Lines& lines) {
    std::size_t width = 0;
    for (const auto& [left, right] : lines) width = std::max(width, left.size());
    std::string text;
    for (const auto& [left, right] : lines)
        text.append("  ").append(left).append(width - left.size() + 2, ' ').append(right).append("\n");
    return text;
}

std::string flag_spelling(const Flag& flag) {
    const std::string letter = flag.letter ? std::string("-") + flag.letter + ", " : "    ";
    return letter + "--" + flag.name + (flag.value.empty() ? "" : " " + flag.value);
}

std::string flag_text(const Flag& flag) {
    std::string text = flag.help;
    if (flag.repeatable) text += "; repeatable";
    if (!flag.initial.empty()) text += " (default: " + flag.initial + ")";
    return text;
}

Lines flag_lines(const std::vector<Flag>& flags) {
    Lines lines;
    for (const Flag& flag : flags) lines.emplace_back(flag_spelling(flag), flag_text(flag));
    return lines;
}

std::string usage(const Command& command) {
    std::string text = "svcctl " + join(command.path, " ");
    for (const Positional& positional : command.positionals) {
        const std::string name = "<" + positional.name + ">" + (positional.repeatable ? "..." : "");
        text += positional.required ? " " + name : " [" + name + "]";
    }
    return text + " [flags]";
}

// Whether the command belongs to this group; commands of one word belong to the empty group.
bool is_of_group(const Command& command, const std::vector<std::string>& group) {
    if (group.empty()) return command.path.size() == 1;
    return command.path.size() > group.size() && std::equal(group.begin(), group.end(), command.path.begin());
}

Lines commands_of(const CommandTable& table, std::string_view group) {
    const auto words = group.empty() ? std::vector<std::string>() : split(group, ' ');
    Lines lines;
    for (const Command& command : table.commands) {
        if (!is_of_group(command, words)) continue;
        std::string name =
            join({command.path.begin() + static_cast<std::ptrdiff_t>(words.size()), command.path.end()}, " ");
        for (const auto& alias : command.aliases) name += ", " + alias;
        lines.emplace_back(name, command.summary);
    }
    return lines;
}

}  // namespace

std::string program_help(const CommandTable& table) {
    Lines groups;
    for (const Group& group : table.groups) groups.emplace_back(group.name + " ...", group.summary);
    return "Usage: svcctl <command> [flags]\n\nControls an instance management service.\n\nCommands:\n" +
           two_columns(commands_of(table, "")) + "\nGroups of commands:\n" + two_columns(groups) +
           "\nFlags of every command:\n" + two_columns(flag_lines(table.global_flags)) +
           "\nIds may be shortened to their first characters. First steps:\n"
           "  svcctl image add base ./base.tar.xz\n"
           "  svcctl launch base\n"
           "  svcctl exec <id> -- uname -a\n"
           "\n'svcctl <command> --help' tells more about a command.\n";
}

std::string group_help(const CommandTable& table, std::string_view group) {
    return "Usage: svcctl " + std::string(group) + " <command> [flags]\n\nCommands:\n" +
           two_columns(commands_of(table, group)) + "\n'svcctl " + std::string(group) +
           " <command> --help' tells more about a command.\n";
}

std::string command_help(const CommandTable& table, const Command& command) {
    std::string text = "Usage: " + usage(command) + "\n\n" + command.summary + "\n";
    if (!command.aliases.empty()) text += "\nAlso: " + join(command.aliases, ", ") + "\n";
    if (!command.details.empty()) text += "\n" + command.details + "\n";
    Lines positionals;
    for (const Positional& positional : command.positionals)
        positionals.emplace_back("<" + positional.name + ">", positional.help);
    if (!positionals.empty()) text += "\nArguments:\n" + two_columns(positionals);
    if (!command.flags.empty()) text += "\nFlags:\n" + two_columns(flag_lines(command.flags));
    return text + "\nFlags of every command:\n" + two_columns(flag_lines(table.global_flags));
}

}  // namespace svc::cli
