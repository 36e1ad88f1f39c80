#include "server/process/configuration.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <map>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/presence.h"
#include "libsvc/base/strings.h"
#include "libsvc/formats/yaml.h"
#include "libsvc/formats/yaml_line.h"
#include "server/process/setting_values.h"

namespace svc::process {

namespace {

constexpr std::size_t longest_file = 1U << 20U;

struct Given {
    std::string config;
    std::map<std::string_view, Json> values;  // by key, of the flags given
};

const Key* find_key(const std::vector<Key>& keys, std::string_view name) {
    const auto found =
        std::find_if(keys.begin(), keys.end(), [&](const Key& key) { return key.name == name; });
    return found == keys.end() ? nullptr : &*found;
}

void apply_member(const CommandLine& line, std::string_view text, const std::string& name,
                  const Json& value) {
    const auto refuse = [&](std::string_view path, std::string_view message) {
        throw_at(line.config, yaml_line(text, path), message);
    };
    const Key* key = find_key(line.keys, name);
    if (!key) return refuse(name, "unknown key " + quoted(name));
    if (value.is_null()) return;
    try {
        key->apply(value);
    } catch (const Fault& fault) {
        refuse(fault.path, fault.message);
    } catch (const Error& e) {
        refuse(name, e.what());
    }
}

void apply_file(const CommandLine& line) {
    const std::string name = line.config.string();
    const std::string text = with_context(name, [&] { return read_file(line.config, longest_file); });
    const Json document = with_context(name, [&] { return parse_yaml(text); });
    if (document.is_null()) return;
    if (!document.is_object()) throw_at(line.config, 1, "must be a map of keys to values");
    for (const auto& [key, value] : document.as_object()) apply_member(line, text, key, value);
}

void apply_flags(const CommandLine& line, const Given& given) {
    for (const auto& [name, value] : given.values) {
        try {
            find_key(line.keys, name)->apply(value);
        } catch (const Error& e) {
            throw Error(e.code(), flag_name(name) + ": " + e.what());
        }
    }
}

void add_flag(CLI::App& app, const Key& key, Given& given) {
    const std::string name = flag_name(key.name), help(key.help);
    if (key.flag == Flag::bare) {
        app.add_flag_callback(
            name, [&given, &key] { given.values[key.name] = true; }, help);
        return;
    }
    if (key.value_name.empty()) return;
    const bool repeated = key.flag == Flag::repeated;
    const auto take = [&given, &key, repeated](const std::vector<std::string>& values) {
        given.values[key.name] =
            repeated ? Json(JsonArray(values.begin(), values.end())) : Json(values.back());
        return true;
    };
    app.add_option(name, take, help)
        ->type_name(std::string(key.value_name))
        ->expected(1)
        ->multi_option_policy(repeated ? CLI::MultiOptionPolicy::TakeAll : CLI::MultiOptionPolicy::TakeLast);
}

void add_flags(CLI::App& app, const CommandLine& line, Given& given) {
    app.set_version_flag("--version", line.program + " " SVC_VERSION);
    app.add_option("--config", given.config, "YAML file, default " + line.default_config.string())
        ->type_name("FILE");
    for (const Switch& known : line.switches) app.add_flag(known.name, known.given, known.help);
    for (const Text& text : line.texts)
        app.add_option(text.name, text.value, text.help)->required(text.required);
    for (const Key& key : line.keys) add_flag(app, key, given);
}

}  // namespace

std::optional<int> read_configuration(CommandLine& line, int argc, const char* const* argv) {
    CLI::App app(line.description, line.program);
    Given given;
    add_flags(app, line, given);
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& e) {
        return app.exit(e, std::cout, std::cerr);
    } catch (const CLI::ParseError& e) {
        app.exit(e, std::cout, std::cerr);
        return 2;
    }
    if (!given.config.empty())
        line.config = given.config;
    else if (is_there(line.default_config))
        line.config = line.default_config;
    if (!line.config.empty()) apply_file(line);
    apply_flags(line, given);
    return std::nullopt;
}

}  // namespace svc::process
