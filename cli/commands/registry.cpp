#include "cli/actions/object_lookup.h"
#include "cli/actions/operation_wait.h"
#include "cli/commands/commands.h"
#include "cli/output/document.h"
#include "cli/output/values.h"
#include "cli/terminal/prompt.h"
#include "libsvc/base/strings.h"

namespace svc::cli {
namespace {

Positional application_argument() {
    return {"name", "name of the application"};
}

std::string version_list(const Json& record) {
    std::vector<std::string> numbers;
    if (const Json& versions = member(record, "versions"); versions.is_object())
        for (const auto& [number, details] : versions.as_object()) numbers.push_back(number);
    return join(numbers, ",");
}

int list_registry_applications(Context& context, const Arguments& arguments) {
    Document document{Json::array(), {{"NAME", "VERSIONS", "ARCHITECTURES", "INSTANCE TYPE", "TAGS"}, {}}};
    for (const Json& record : context.client().registry_applications()) {
        document.value.push_back(record);
        document.table.rows.push_back(
            {text_of(record, "name"), version_list(record), comma_text(items_of(record, "architectures")),
             text_of(record, "instance_type"), comma_text(items_of(record, "tags"))});
    }
    context.console().print(render(document, format_of(arguments)));
    return 0;
}

int push(Context& context, const Arguments& arguments) {
    Waiting waiting(context, arguments, true);
    waiting.finish(
        context.client().push_application(application_named(context.client(), arguments.text("name"))));
    return 0;
}

int pull(Context& context, const Arguments& arguments) {
    Waiting waiting(context, arguments, true);
    waiting.finish(context.client().pull_application(arguments.text("name")));
    return 0;
}

int remove_registry_application(Context& context, const Arguments& arguments) {
    const std::string name = arguments.text("name");
    if (!arguments.is_set("yes"))
        confirm_removal(context.console(), {"application " + quoted(name) + " in the registry"});
    Waiting waiting(context, arguments, true);
    waiting.finish(context.client().delete_registry_application(name));
    return 0;
}

}  // namespace

Command registry_list_command() {
    return {{"registry", "list"},      {"ls"}, "list the registry's applications", {}, {format_flag("table")},
            list_registry_applications};
}

Command registry_push_command() {
    return {{"registry", "push"},
            {},
            "send an application's published versions to the registry",
            {application_argument()},
            {no_wait_flag(), timeout_flag()},
            push};
}

Command registry_pull_command() {
    return {{"registry", "pull"},
            {},
            "fetch an application's versions from the registry",
            {application_argument()},
            {no_wait_flag(), timeout_flag()},
            pull};
}

Command registry_delete_command() {
    return {{"registry", "delete"},
            {"rm"},
            "delete an application in the registry",
            {application_argument()},
            {{"yes", 'y', "", "do not ask"}, no_wait_flag(), timeout_flag()},
            remove_registry_application};
}

}  // namespace svc::cli
