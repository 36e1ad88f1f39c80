#include <fcntl.h>

#include <algorithm>

#include "cli/actions/object_lookup.h"
#include "cli/actions/operation_wait.h"
#include "cli/actions/package_source.h"
#include "cli/command_line/version_flag.h"
#include "cli/commands/commands.h"
#include "cli/output/values.h"
#include "cli/terminal/prompt.h"
#include "cli/views/application_view.h"
#include "libsvc/base/digest.h"
#include "libsvc/base/file.h"
#include "libsvc/base/strings.h"

namespace svc::cli {
namespace {

Positional one_application() {
    return {"application", "id or name of the application"};
}
Positional one_version() {
    return {"version", "number of the version"};
}

std::string named(Context& context, const Arguments& arguments) {
    return application_named(context.client(), arguments.text("application"));
}

int list_applications(Context& context, const Arguments& arguments) {
    const auto conditions =
        parse_conditions(arguments.list("filter"), application_condition_keys(), "filter");
    JsonArray shown;
    for (const Json& record : context.client().applications())
        if (std::all_of(conditions.begin(), conditions.end(),
                        [&](const Condition& c) { return application_matches(record, c); }))
            shown.push_back(record);
    context.console().print(render(application_list(shown), format_of(arguments)));
    return 0;
}

int show_application(Context& context, const Arguments& arguments) {
    const Json record = context.client().application(named(context, arguments));
    context.console().print(render(describe(application_value(record)), format_of(arguments)));
    return 0;
}

int create(Context& context, const Arguments& arguments) {
    Waiting waiting(context, arguments, false);
    const PackageSource source(arguments.text("path"), waiting.package_progress());
    const auto record = waiting.finish(context.client().create_application(source.package()));
    context.console().print_line(resource_id(*record, {"applications"}));
    return 0;
}

int update_application(Context& context, const Arguments& arguments) {
    Waiting waiting(context, arguments, false);
    const std::string application = named(context, arguments);
    if (!arguments.given("path")) {
        waiting.finish(context.client().refresh_application(application));
        return 0;
    }
    const PackageSource source(arguments.text("path"), waiting.package_progress());
    waiting.finish(context.client().update_application(application, source.package()));
    return 0;
}

std::vector<std::string> to_remove(Context& context, const Arguments& arguments) {
    if (!arguments.is_set("all")) {
        if (!arguments.given("application")) throw UsageError("name an application, or give --all");
        return {named(context, arguments)};
    }
    if (arguments.given("application") || arguments.given("version"))
        throw UsageError("--all goes with neither an application nor --version");
    std::vector<std::string> ids;
    for (const Json& record : context.client().applications()) ids.push_back(text_of(record, "id"));
    return ids;
}

int remove_application(Context& context, const Arguments& arguments) {
    const auto version = version_of(arguments);
    const bool force = arguments.is_set("force");
    const auto names = to_remove(context, arguments);
    if (names.empty()) return 0;
    if (!arguments.is_set("yes")) {
        std::vector<std::string> items;
        for (const auto& name : names)
            items.push_back("application " + quoted(name) + version_words(version));
        confirm_removal(context.console(), items);
    }
    Waiting waiting(context, arguments, true);
    std::vector<std::pair<std::string, Json>> started;
    for (const auto& name : names)
        started.emplace_back(name, version
                                       ? context.client().delete_application_version(name, *version, force)
                                       : context.client().delete_application(name, force));
    return waiting.finish_all(started) ? 0 : 1;
}

int publish(Context& context, const Arguments& arguments, bool published) {
    const int version = parse_version("<version>", arguments.integer("version"));
    Waiting waiting(context, arguments, false);
    waiting.finish(context.client().publish_application(named(context, arguments), version, published));
    return 0;
}

int manifest(Context& context, const Arguments& arguments) {
    std::optional<int> version;
    if (arguments.given("version")) version = parse_version("<version>", arguments.integer("version"));
    context.console().print(context.client().application_manifest(named(context, arguments), version));
    return 0;
}

// What the name of the file says. A service that does not know of compressions would send gzip all the same.
std::string compression_of(Context& context, const std::filesystem::path& target) {
    if (target.extension() != ".zst") return "";
    const JsonArray known = context.client().server().at("api_extensions").as_array();
    if (std::ranges::find(known, Json("application_export_compression")) == known.end())
        throw Error(ErrorCode::unsupported, "the service cannot export to " + quoted(target.string()) +
                                                ": it compresses by gzip alone");
    return "zstd";
}

// Downloads to a temporary file, which gets its name when its digest is the one of the service.
int export_archive(Context& context, const Arguments& arguments) {
    const int version = parse_version("<version>", arguments.integer("version"));
    const std::string application = named(context, arguments);
    const std::filesystem::path target = arguments.given("file")
                                             ? arguments.text("file")
                                             : application + "-" + std::to_string(version) + ".tar.gz";
    const std::string compression = compression_of(context, target);
    const std::filesystem::path folder = target.has_parent_path() ? target.parent_path() : ".";
    const TemporaryDirectory scratch(folder, ".svcctl-");
    const auto partial = scratch.path() / "archive";
    const FileDescriptor file = open_file(partial, O_WRONLY | O_CREAT | O_EXCL, 0644);
    Sha256 digest;
    const std::string expected =
        context.client().export_application(application, version, compression, [&](std::string_view piece) {
            digest.update(piece);
            write_all(file.get(), piece);
        });
    if (!expected.empty() && digest.hex() != expected)
        throw Error(ErrorCode::internal, "the archive arrived damaged: its SHA-256 is not " + expected);
    std::filesystem::rename(partial, target);
    context.console().print_line(target.string());
    return 0;
}

}  // namespace

Command application_create_command() {
    return {{"application", "create"},
            {},
            "create an application",
            {{"path", "package: a directory, or a tar file compressed with bzip2"}},
            {timeout_flag()},
            create,
            "Prints the id of the application. Its first version is made in the background then:\n"
            "'svcctl wait <id>' waits until it is ready."};
}

Command application_update_command() {
    return {{"application", "update"},
            {},
            "add a version to an application",
            {one_application(), {"path", "package of the new version", false}},
            {timeout_flag()},
            update_application,
            "Without a package: makes a version if its image or an addon has a newer one."};
}

Command application_list_command() {
    return {{"application", "list"},
            {"ls"},
            "list applications",
            {},
            {{"filter",
              'f',
              "KEY=VALUE",
              "only those that match: " + join(application_condition_keys(), ", "),
              "",
              {},
              true},
             format_flag("table")},
            list_applications};
}

Command application_show_command() {
    return {{"application", "show"},
            {},
            "show an application and its versions",
            {one_application()},
            {format_flag("yaml")},
            show_application};
}

Command application_delete_command() {
    return {{"application", "delete"},
            {"rm"},
            "delete an application or one of its versions",
            {{"application", "id or name of the application", false}},
            {version_flag(),
             {"all", 'a', "", "all applications"},
             {"force", 'f', "", "also when it is immutable"},
             {"yes", 'y', "", "do not ask"},
             no_wait_flag(),
             timeout_flag()},
            remove_application};
}

Command application_publish_command() {
    return {{"application", "publish"},
            {},
            "make a version available to launches",
            {one_application(), one_version()},
            {timeout_flag()},
            [](Context& context, const Arguments& arguments) { return publish(context, arguments, true); }};
}

Command application_revoke_command() {
    return {{"application", "revoke"},
            {},
            "take a version back from launches",
            {one_application(), one_version()},
            {timeout_flag()},
            [](Context& context, const Arguments& arguments) { return publish(context, arguments, false); }};
}

Command application_manifest_command() {
    return {{"application", "manifest"},
            {},
            "print the manifest of a version",
            {one_application(), {"version", "number of the version; the newest when left out", false}},
            {},
            manifest};
}

Command application_export_command() {
    return {{"application", "export"},
            {},
            "write a version into an archive that can be added as an image",
            {one_application(),
             one_version(),
             {"file", "where to, .tar.gz or .tar.zst; <application>-<version>.tar.gz", false}},
            {},
            export_archive};
}

}  // namespace svc::cli
