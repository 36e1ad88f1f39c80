#include "server/gateway/options.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <map>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/formats/yaml.h"
#include "server/gateway/line_of_key.h"
#include "server/gateway/settings.h"
#include "server/setting_values.h"

namespace svc::gateway {

namespace {

using server::flag_name;
using server::throw_at;

struct Flags {
    std::string config;
    bool check_only = false;
    bool tls12 = false;
    std::map<std::string_view, std::string> values;  // by key, of the flags given
};

void apply_member(Options& options, const std::filesystem::path& file, std::string_view text,
                  const std::pair<std::string, Json>& member) {
    const auto line = [&](std::string_view path) { return line_of_key(text, path); };
    const Setting* setting = find_setting(member.first);
    if (!setting) throw_at(file, line(member.first), "unknown key '" + member.first + "'");
    if (member.second.is_null()) return;
    try {
        setting->apply(options, member.first, member.second);
    } catch (const Fault& fault) {
        throw_at(file, line(fault.path), fault.message);
    } catch (const Error& e) {
        throw_at(file, line(member.first), e.what());
    }
}

void apply_file(Options& options, const std::filesystem::path& file) {
    const std::string text = with_context(file.string(), [&] { return read_file(file, 1U << 20U); });
    const Json document = with_context(file.string(), [&] { return parse_yaml(text); });
    if (document.is_null()) return;
    if (!document.is_object()) throw_at(file, 1, "must be a map of keys to values");
    for (const auto& member : document.as_object()) apply_member(options, file, text, member);
}

void apply_flags(Options& options, const Flags& flags) {
    if (flags.tls12) options.tls12 = true;
    for (const auto& [key, value] : flags.values) {
        try {
            find_setting(key)->apply(options, key, value);
        } catch (const Error& e) {
            throw Error(e.code(), flag_name(key) + ": " + e.what());
        }
    }
}

void add_flags(CLI::App& app, Flags& flags, const std::filesystem::path& default_config) {
    app.set_version_flag("--version", std::string("svc-gateway " SVC_VERSION));
    app.add_option("--config", flags.config, "YAML file, default " + default_config.string())
        ->type_name("FILE");
    app.add_flag("--check-config", flags.check_only, "check flags and file, then exit");
    app.add_flag("--tls12", flags.tls12, std::string(find_setting("tls12")->help));
    for (const Setting& setting : settings()) {
        if (setting.value_name.empty()) continue;
        const auto take = [&flags, key = setting.key](const std::vector<std::string>& values) {
            flags.values[key] = values.back();
            return true;
        };
        app.add_option(flag_name(setting.key), take, std::string(setting.help))
            ->type_name(std::string(setting.value_name))
            ->expected(1)
            ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    }
}

Options load(const Flags& flags, const std::filesystem::path& default_config) {
    Options options;
    options.check_only = flags.check_only;
    if (!flags.config.empty())
        apply_file(options, flags.config);
    else if (std::error_code error; std::filesystem::exists(default_config, error))
        apply_file(options, default_config);
    apply_flags(options, flags);
    if (options.tls_certificate.empty() != options.tls_key.empty())
        throw Error(ErrorCode::invalid_argument, "tls_certificate and tls_key go together");
    return options;
}

}  // namespace

Invocation read_options(int argc, const char* const* argv, const std::filesystem::path& default_config) {
    CLI::App app("stream gateway: sessions of instances that are watched in a browser", "svc-gateway");
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

}  // namespace svc::gateway
