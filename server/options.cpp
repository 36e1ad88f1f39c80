#include "server/options.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <map>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/strings.h"
#include "libsvc/formats/yaml.h"
#include "libsvc/model/api.h"
#include "server/setting_values.h"
#include "server/settings.h"

namespace svc::server {

namespace {

struct Flags {
    std::string config;
    bool check_only = false;
    bool tear_down = false;
    bool version = false;
    std::map<std::string_view, std::vector<std::string>> values;  // by key, of the flags given
};

// 1-based line of a top-level key; 0 when it is written in a way this search does not see (flow style).
std::size_t line_of(std::string_view text, std::string_view key) {
    std::size_t number = 0;
    for (const std::string& line : split(text, '\n')) {
        ++number;
        const std::size_t colon = line.find(':');
        if (colon == std::string::npos) continue;
        std::string_view name = trim(std::string_view(line).substr(0, colon));
        if (name.size() > 1 && (name.front() == '"' || name.front() == '\''))
            name = name.substr(1, name.size() - 2);
        if (name == key) return number;
    }
    return 0;
}

void apply_member(Options& options, const std::filesystem::path& file, std::string_view text,
                  const std::pair<std::string, Json>& member) {
    const std::size_t line = line_of(text, member.first);
    const Setting* setting = find_setting(member.first);
    if (!setting) throw_at(file, line, "unknown key " + quoted(member.first));
    if (member.second.is_null()) return;
    try {
        setting->apply(options, member.first, member.second);
    } catch (const Error& e) {
        throw_at(file, line, e.what());
    }
}

void apply_file(Options& options, const std::filesystem::path& file) {
    const std::string text = with_context(file.string(), [&] { return read_file(file, 1U << 20U); });
    const Json document = with_context(file.string(), [&] { return parse_yaml(text); });
    if (!document.is_null() && !document.is_object()) throw_at(file, 1, "must be a map of keys to values");
    options.config = file;
    if (document.is_null()) return;
    for (const auto& member : document.as_object()) apply_member(options, file, text, member);
}

void apply_flags(Options& options, const Flags& flags) {
    for (const auto& [key, values] : flags.values) {
        const Setting& setting = *find_setting(key);
        const bool list = key == "listen";
        const Json value = list ? Json(JsonArray(values.begin(), values.end())) : Json(values.back());
        try {
            setting.apply(options, key, value);
        } catch (const Error& e) {
            throw Error(e.code(), flag_name(key) + ": " + e.what());
        }
    }
}

void add_flags(CLI::App& app, Flags& flags, const std::filesystem::path& default_config) {
    app.set_version_flag("--version", "svcd " + std::string(service_version));
    app.add_option("--config", flags.config, "YAML file, default " + default_config.string())
        ->type_name("FILE");
    app.add_flag("--check-config", flags.check_only, "check flags and file, then exit");
    app.add_flag("--tear-down", flags.tear_down,
                 "remove every container, the bridge and the rules of this state directory, then exit");
    for (const Setting& setting : settings()) {
        if (setting.value_name.empty()) continue;
        const auto take = [&flags, key = setting.key](const std::vector<std::string>& values) {
            flags.values[key] = values;
            return true;
        };
        app.add_option(flag_name(setting.key), take, std::string(setting.help))
            ->type_name(std::string(setting.value_name))
            ->expected(1)
            ->multi_option_policy(setting.key == "listen" ? CLI::MultiOptionPolicy::TakeAll
                                                          : CLI::MultiOptionPolicy::TakeLast);
    }
}

Options load(const Flags& flags, const std::filesystem::path& default_config) {
    Options options;
    options.check_only = flags.check_only;
    options.tear_down = flags.tear_down;
    if (!flags.config.empty())
        apply_file(options, flags.config);
    else if (std::error_code error; std::filesystem::exists(default_config, error))
        apply_file(options, default_config);
    apply_flags(options, flags);
    return options;
}

}  // namespace

Invocation read_options(int argc, const char* const* argv, const std::filesystem::path& default_config) {
    CLI::App app("instance management service", "svcd");
    Flags flags;
    add_flags(app, flags, default_config);
    try {
        app.parse(argc, argv);
    } catch (const CLI::Success& e) {
        return {{}, true, app.exit(e, std::cout, std::cerr)};
    } catch (const CLI::ParseError& e) {
        app.exit(e, std::cout, std::cerr);
        return {{}, true, 2};
    }
    return {load(flags, default_config), false, 0};
}

}  // namespace svc::server
