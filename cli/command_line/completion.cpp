#include "cli/command_line/completion.h"

#include <map>

#include "libsvc/base/strings.h"

namespace svc::cli {
namespace {

using Words = std::vector<std::string>;

void add_flags(Words& words, const std::vector<Flag>& flags) {
    for (const Flag& flag : flags) words.push_back("--" + flag.name);
}

// The words that may follow each chain of command words: "" -> {"launch", "image", ...}, "image add" ->
// {"--default",
// ...}.
std::map<std::string, Words> candidates(const CommandTable& table) {
    std::map<std::string, Words> after;
    for (const Group& group : table.groups) after[""].push_back(group.name);
    for (const Command& command : table.commands) {
        const Words parent(command.path.begin(), command.path.end() - 1);
        after[join(parent, " ")].push_back(command.path.back());
        Words& flags = after[join(command.path, " ")];
        add_flags(flags, command.flags);
        add_flags(flags, table.global_flags);
        for (const Flag& flag : command.flags)
            for (const auto& choice : flag.choices) flags.push_back(choice);
        if (command.path == Words{"completion"}) flags.insert(flags.end(), {"bash", "zsh", "fish"});
    }
    return after;
}

// Branches of a `case` for bash and zsh: both scripts have the variable `chain` and put the candidates into
// `found`.
std::string path_branches(const CommandTable& table, const std::string& indent) {
    std::string text;
    for (const auto& [path, words] : candidates(table))
        if (!path.empty()) text += (text.empty() ? "" : " | ") + std::string("\"") + path + "\"";
    return indent + text + ") chain=\"${chain:+$chain }$word\" ;;\n";
}

std::string candidate_branches(const CommandTable& table, const std::string& indent) {
    std::string text;
    for (const auto& [path, words] : candidates(table))
        text.append(indent + "\"")
            .append(path)
            .append("\") found=\"")
            .append(join(words, " "))
            .append("\" ;;\n");
    return text;
}

std::string escaped(const std::string& text) {
    std::string result;
    for (const char c : text) result += (c == '\'' || c == '\\' ? "\\" : "") + std::string(1, c);
    return result;
}

std::string fish_line(const std::string& path, const std::string& rest, const std::string& summary) {
    return "complete -c svcctl -n '__svcctl_after \"" + path + "\"' " + rest + " -d '" + escaped(summary) +
           "'\n";
}

std::string fish_flag(const std::string& path, const Flag& flag) {
    std::string rest = "-l " + flag.name;
    if (flag.letter) rest += std::string(" -s ") + flag.letter;
    if (!flag.value.empty()) rest += " -r";
    if (!flag.choices.empty()) rest += " -f -a '" + join(flag.choices, " ") + "'";
    return fish_line(path, rest, flag.help);
}

}  // namespace

std::string bash_completion(const CommandTable& table) {
    return "# bash completion for svcctl\n"
           "_svcctl() {\n"
           "    local current=\"${COMP_WORDS[COMP_CWORD]}\" chain=\"\" found=\"\" word i\n"
           "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
           "        word=\"${COMP_WORDS[i]}\"\n"
           "        case \"${chain:+$chain }$word\" in\n" +
           path_branches(table, "            ") +
           "        esac\n"
           "    done\n"
           "    case \"$chain\" in\n" +
           candidate_branches(table, "        ") +
           "    esac\n"
           "    COMPREPLY=($(compgen -W \"$found\" -- \"$current\"))\n"
           "    [ ${#COMPREPLY[@]} -gt 0 ] || compopt -o default 2>/dev/null\n"
           "}\n"
           "complete -F _svcctl svcctl\n";
}

std::string zsh_completion(const CommandTable& table) {
    return "#compdef svcctl\n"
           "_svcctl() {\n"
           "    local chain=\"\"\n"
           "    local found=\"\" word i\n"
           "    for ((i = 2; i < CURRENT; i++)); do\n"
           "        word=\"${words[i]}\"\n"
           "        case \"${chain:+$chain }$word\" in\n" +
           path_branches(table, "            ") +
           "        esac\n"
           "    done\n"
           "    case \"$chain\" in\n" +
           candidate_branches(table, "        ") +
           "    esac\n"
           "    compadd -- ${=found}\n"
           "    [[ \"$PREFIX\" == -* ]] || _files\n"
           "}\n"
           "if [ \"$funcstack[1]\" = _svcctl ]; then _svcctl \"$@\"; else compdef _svcctl svcctl; fi\n";
}

std::string fish_completion(const CommandTable& table) {
    std::string text =
        "# fish completion for svcctl\n"
        "function __svcctl_after\n"
        "    set -l words (string match -v -- '-*' (commandline -opc)[2..-1])\n"
        "    set -l wanted (string split -n ' ' -- $argv[1])\n"
        "    set -l count (count $wanted)\n"
        "    if test $count -eq 0\n"
        "        test (count $words) -eq 0\n"
        "        return\n"
        "    end\n"
        "    test (count $words) -ge $count; and test \"$words[1..$count]\" = \"$argv[1]\"\n"
        "end\n";
    for (const Group& group : table.groups) text += fish_line("", "-f -a " + group.name, group.summary);
    for (const Command& command : table.commands) {
        const std::string parent = command.path.size() > 1 ? command.path.front() : "";
        text += fish_line(parent, "-f -a " + command.path.back(), command.summary);
        for (const Flag& flag : command.flags) text += fish_flag(join(command.path, " "), flag);
    }
    for (const Flag& flag : table.global_flags) {
        std::string line = "complete -c svcctl -l " + flag.name;
        if (flag.letter) line += std::string(" -s ") + flag.letter;
        text += line + (flag.value.empty() ? "" : " -r") + " -d '" + escaped(flag.help) + "'\n";
    }
    return text;
}

}  // namespace svc::cli
