#pragma once
// Reads the configuration of a daemon: flags, a YAML file and defaults, in this order of precedence. One
// table of settings describes both.
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/json.h"

namespace svc::process {

// The flag of a setting is its key with `-` for `_`.
enum class Flag { with_value, repeated, bare };

// A row of the table: a key of the file, and the function that reads its value.
template <typename Options>
struct Setting {
    std::string_view key;
    std::string_view value_name;  // set: there is a flag, too, and the help text has this name for its value
    std::string_view help;
    void (*apply)(Options& options, std::string_view key,
                  const Json& value);  // throws invalid_argument, Fault
    Flag flag = Flag::with_value;
};

// Thrown for a wrong value below a top-level key, to name that value.
struct Fault {
    std::string path;  // "regions[1].url"
    std::string message;
};

template <typename Options>
struct Invocation {
    Options options;
    bool finished = false;  // --help or --version was answered, or the command line was wrong
    int exit_status = 0;    // then: 0 or 2
};

// A setting that is bound to the options it changes.
struct Key {
    std::string_view name, value_name, help;
    Flag flag = Flag::with_value;
    std::function<void(const Json& value)> apply;
};

// A flag that is no setting: the program does something else instead of running.
struct Switch {
    std::string name, help;
    bool& given;
};

// A flag with a value, or an argument without a flag, that is no setting.
struct Text {
    std::string name, help;  // "--format"; "FILE"
    std::string& value;
    bool required = false;
};

struct CommandLine {
    std::string program, description;
    std::filesystem::path default_config;  // is read where it exists and no --config is given
    std::vector<Key> keys;
    std::vector<Switch> switches;
    std::filesystem::path config = {};  // what was read; "": none
    std::vector<Text> texts = {};
};
// Applies the file and the flags to the options. Throws invalid_argument naming the flag, or file, line and
// key. Returns an exit status when the program must end: after --help, or for a wrong command line.
std::optional<int> read_configuration(CommandLine& line, int argc, const char* const* argv);

template <typename Options>
std::vector<Key> bind(std::span<const Setting<Options>> settings, Options& options) {
    std::vector<Key> keys;
    for (const Setting<Options>& setting : settings)
        keys.push_back(
            {setting.key, setting.value_name, setting.help, setting.flag,
             [&options, &setting](const Json& value) { setting.apply(options, setting.key, value); }});
    return keys;
}

}  // namespace svc::process
