#include "cli/actions/object_lookup.h"
#include "cli/actions/operation_wait.h"
#include "cli/actions/package_source.h"
#include "cli/command_line/version_flag.h"
#include "cli/commands/commands.h"
#include "cli/output/document.h"
#include "cli/output/values.h"
#include "cli/terminal/prompt.h"
#include "libsvc/base/strings.h"
#include "libsvc/model/values/size.h"

namespace svc::cli {
namespace {

Positional one_addon() {
    return {"name", "name of the addon"};
}
Positional one_package() {
    return {"path", "package: a directory, or a tar file compressed with bzip2"};
}

Json addon_value(const Json& record) {
    Json versions = Json::object();
    for (const Json& version : items_of(record, "versions"))
        versions.set(
            std::to_string(number_of(version, "version")),
            Json::object({{"size", format_size(static_cast<std::uint64_t>(number_of(version, "size")))},
                          {"created-at", time_text(number_of(version, "created_at"))},
                          {"fingerprint", text_of(version, "fingerprint")}}));
    return Json::object({{"name", text_of(record, "name")},
                         {"versions", std::move(versions)},
                         {"used_by", Json(items_of(record, "used_by"))}});
}

int list_addons(Context& context, const Arguments& arguments) {
    Document document{Json::array(), {{"NAME", "VERSIONS", "USED BY"}, {}}};
    for (const Json& record : context.client().addons()) {
        document.value.push_back(addon_value(record));
        document.table.rows.push_back({text_of(record, "name"),
                                       std::to_string(items_of(record, "versions").size()),
                                       comma_text(items_of(record, "used_by"))});
    }
    context.console().print(render(document, format_of(arguments)));
    return 0;
}

int show_addon(Context& context, const Arguments& arguments) {
    const Json record = context.client().addon(addon_named(context.client(), arguments.text("name")));
    context.console().print(render(describe(addon_value(record)), format_of(arguments)));
    return 0;
}

int upload(Context& context, const Arguments& arguments, bool is_new) {
    const std::string name = arguments.text("name");
    Waiting waiting(context, arguments, false);
    const PackageSource source(arguments.text("path"), waiting.package_progress());
    waiting.finish(
        is_new ? context.client().create_addon(name, source.package())
               : context.client().update_addon(addon_named(context.client(), name), source.package()));
    return 0;
}

int remove_addon(Context& context, const Arguments& arguments) {
    const auto version = version_of(arguments);
    const std::string name = addon_named(context.client(), arguments.text("name"));
    if (!arguments.is_set("yes"))
        confirm_removal(context.console(), {"addon " + quoted(name) + version_words(version)});
    Waiting waiting(context, arguments, false);
    waiting.finish(version ? context.client().delete_addon_version(name, *version)
                           : context.client().delete_addon(name));
    return 0;
}

}  // namespace

Command addon_add_command() {
    return {{"addon", "add"},
            {},
            "upload an addon",
            {{"name", "name of the new addon"}, one_package()},
            {timeout_flag()},
            [](Context& context, const Arguments& arguments) { return upload(context, arguments, true); }};
}

Command addon_update_command() {
    return {{"addon", "update"},
            {},
            "add a version to an addon",
            {one_addon(), one_package()},
            {timeout_flag()},
            [](Context& context, const Arguments& arguments) { return upload(context, arguments, false); },
            "Applications that use the addon get a new version too, unless that is switched off."};
}

Command addon_list_command() {
    return {{"addon", "list"}, {"ls"}, "list addons", {}, {format_flag("table")}, list_addons};
}

Command addon_show_command() {
    return {{"addon", "show"},     {},        "show an addon and its versions", {one_addon()},
            {format_flag("yaml")}, show_addon};
}

Command addon_delete_command() {
    return {{"addon", "delete"},
            {"rm"},
            "delete an addon or one of its versions",
            {one_addon()},
            {version_flag(), {"yes", 'y', "", "do not ask"}, timeout_flag()},
            remove_addon};
}

}  // namespace svc::cli
