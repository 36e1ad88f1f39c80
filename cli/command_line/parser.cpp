#include "cli/command_line/parser.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <deque>

#include "cli/command_line/command_table.h"
#include "cli/command_line/suggestion.h"
#include "libsvc/base/strings.h"

namespace svc::cli {
namespace {

using Words = std::vector<std::string>;

// The place where CLI11 stores the values of one flag.
struct Slot {
    std::string name;
    bool is_switch = false;
    Words values;
    bool on = false;
};

// Global flags may stand before the command's words; returns how many words they take.
std::size_t leading_flags(const std::vector<Flag>& flags, const Words& words) {
    std::size_t at = 0;
    while (at < words.size() && words[at].starts_with("--") && words[at].size() > 2) {
        const std::string name = words[at].substr(2, words[at].find('=') - 2);
        const auto flag =
            std::find_if(flags.begin(), flags.end(), [&](const Flag& f) { return f.name == name; });
        if (flag == flags.end()) break;
        const bool takes_next = !flag->value.empty() && words[at].find('=') == std::string::npos;
        at += takes_next ? 2 : 1;
    }
    return std::min(at, words.size());
}

bool asks_for_help(const Words& words) {
    return std::any_of(words.begin(), words.end(),
                       [](const auto& word) { return word == "-h" || word == "--help"; });
}

std::string full_name(const Command& command) {
    return "svcctl " + join(command.path, " ");
}

// "unknown flag '--formt'; did you mean '--format'?"
std::string unknown_flag(const std::string& word, const Words& names) {
    const std::string given = word.substr(0, word.find('='));
    Words spellings;
    for (const std::string& name : names) spellings.push_back("--" + name);
    return "unknown flag " + quoted(given) + (given.starts_with("--") ? suggestion(given, spellings) : "");
}

// Parses one command by CLI11. Global flags and the command's own flags are declared together.
class Parser {
  public:
    Parser(const CommandTable& table, const Command& command) : command_(command) {
        app_.set_help_flag();
        for (const auto* flags : {&command.flags, &table.global_flags})
            for (const Flag& flag : *flags) add_flag(flag);
        app_.add_option("arguments", loose_);
    }

    Arguments parse(const Words& words, const Words& verbatim) {
        try {
            app_.parse(Words(words.rbegin(), words.rend()));  // CLI11 wants them in reverse
        } catch (const CLI::ParseError& e) {
            const Words unknown = app_.remaining();
            throw UsageError(unknown.empty() ? e.what() : unknown_flag(unknown.front(), flag_names()));
        }
        Arguments arguments;
        for (const Flag* flag : declared_) arguments.declare(flag->name, flag->initial);
        for (const Positional& positional : command_.positionals) arguments.declare(positional.name, "");
        for (const Slot& slot : slots_) give(arguments, slot);
        distribute(arguments, loose_);
        distribute(arguments, verbatim);
        check(arguments);
        return arguments;
    }

  private:
    void add_flag(const Flag& flag) {
        Slot& slot = slots_.emplace_back(Slot{flag.name, flag.value.empty(), {}, false});
        declared_.push_back(&flag);
        const std::string names =
            (flag.letter ? std::string("-") + flag.letter + "," : "") + "--" + flag.name;
        if (slot.is_switch) {
            app_.add_flag(names, slot.on);
        } else {
            app_.add_option(names, slot.values)->allow_extra_args(false);
        }
    }

    Words flag_names() const {
        Words names;
        for (const Flag* flag : declared_) names.push_back(flag->name);
        return names;
    }

    static void give(Arguments& arguments, const Slot& slot) {
        if (slot.on) arguments.give(slot.name, "true");
        for (const auto& value : slot.values) arguments.give(slot.name, value);
    }

    // Gives each word to the first positional that can take another one.
    void distribute(Arguments& arguments, const Words& words) const {
        for (const auto& word : words) {
            const auto open =
                std::find_if(command_.positionals.begin(), command_.positionals.end(),
                             [&](const Positional& p) { return p.repeatable || !arguments.given(p.name); });
            if (open == command_.positionals.end()) throw UsageError("unexpected argument " + quoted(word));
            arguments.give(open->name, word);
        }
    }

    void check(const Arguments& arguments) const {
        for (const Positional& positional : command_.positionals)
            if (positional.required && !arguments.given(positional.name))
                throw UsageError("argument <" + positional.name + "> is missing");
        for (const Flag* flag : declared_) {
            if (!flag->repeatable && arguments.list(flag->name).size() > 1)
                throw UsageError("--" + flag->name + " is given more than once");
            if (flag->choices.empty() || !arguments.given(flag->name)) continue;
            const std::string value = arguments.text(flag->name);
            if (std::find(flag->choices.begin(), flag->choices.end(), value) == flag->choices.end())
                throw UsageError("--" + flag->name + ": " + quoted(value) + " is none of " +
                                 join(flag->choices, ", "));
        }
    }

    const Command& command_;
    CLI::App app_;
    std::deque<Slot> slots_;  // CLI11 keeps references
    Words loose_;             // words that are not flags
    std::vector<const Flag*> declared_;
};

// "unknown command 'image lst'; did you mean 'image list'?" `within`: the group's words.
std::string unknown_command(const CommandTable& table, const Words& within, const std::string& word) {
    const std::string group = within.empty() ? "" : join(within, " ") + " ";
    const std::string near = nearest(word, table.words_after(within));
    return "unknown command " + quoted(group + word) +
           (near.empty() ? "; see 'svcctl " + group + "--help'"
                         : "; did you mean " + quoted(group + near) + "?");
}

Invocation without_command(const CommandTable& table, const Words& words) {
    Invocation invocation;
    invocation.help = words.empty() || asks_for_help(words) || words.front() == "help";
    invocation.version = !words.empty() && (words.front() == "--version" || words.front() == "-v");
    if (invocation.version) return invocation;
    if (const auto group = table.group_words(words); !group.empty()) {
        invocation.group = join(group, " ");
        const bool only_flags = words.size() == group.size() || words[group.size()].starts_with("-");
        if (only_flags && asks_for_help(words)) return invocation;
        if (words.size() == group.size())
            throw UsageError("svcctl " + invocation.group + ": which command? See 'svcctl " +
                             invocation.group + " --help'");
        throw UsageError(unknown_command(table, group, words[group.size()]));
    }
    if (words.empty()) throw UsageError("no command given; see 'svcctl --help'");
    if (invocation.help && words.front().starts_with("-")) return invocation;
    if (words.front() == "help") return invocation;
    if (!words.front().starts_with("-")) throw UsageError(unknown_command(table, {}, words.front()));
    Words known{"version"};
    for (const Flag& flag : table.global_flags) known.push_back(flag.name);
    throw UsageError(unknown_flag(words.front(), known));
}

}  // namespace

Invocation parse_command_line(const CommandTable& table, const std::vector<std::string>& all) {
    const auto mark = std::find(all.begin(), all.end(), "--");
    const Words words(all.begin(), mark);
    const Words verbatim(mark == all.end() ? mark : mark + 1, all.end());

    const std::size_t leading = leading_flags(table.global_flags, words);
    Words named(words.begin() + static_cast<std::ptrdiff_t>(leading), words.end());
    std::size_t used = 0;
    Invocation invocation;
    invocation.command = table.find(named, used);
    if (invocation.command == nullptr)
        return without_command(table, named.empty() && asks_for_help(words) ? Words{"--help"} : named);
    invocation.help = asks_for_help(words);
    if (invocation.help) return invocation;

    Words rest(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(leading));
    rest.insert(rest.end(), named.begin() + static_cast<std::ptrdiff_t>(used), named.end());
    try {
        invocation.arguments = Parser(table, *invocation.command).parse(rest, verbatim);
    } catch (const UsageError& e) {
        const std::string text = e.what();
        if (text.ends_with('?')) throw;
        throw UsageError(text + "; see '" + full_name(*invocation.command) + " --help'");
    }
    return invocation;
}

}  // namespace svc::cli
