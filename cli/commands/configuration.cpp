#include "cli/actions/operation_wait.h"
#include "cli/commands/commands.h"
#include "cli/output/document.h"
#include "cli/output/values.h"
#include "libsvc/client/config_schema.h"

namespace svc::cli {
namespace {

int set_configuration(Context& context, const Arguments& arguments) {
    Waiting waiting(context, arguments, false);
    waiting.finish(context.client().set_config(arguments.text("name"), arguments.text("value")));
    return 0;
}

int show_configuration(Context& context, const Arguments& arguments) {
    const Json config = context.client().config();
    Document document{Json::object({{"config", config}}), {{"NAME", "VALUE"}, {}}};
    for (const auto& [name, value] : config.as_object())
        document.table.rows.push_back({name, text_of(Json::object({{"value", value}}), "value")});
    context.console().print(render(document, format_of(arguments)));
    return 0;
}

int show_schema(Context& context, const Arguments& arguments) {
    Document document{Json::array(), {{"NAME", "TYPE", "DEFAULT", "VALUES", "MEANING"}, {}}};
    for (const Json& item : config_schema(context.client())) {
        document.value.push_back(item);
        document.table.rows.push_back({text_of(item, "name"), text_of(item, "type"), text_of(item, "default"),
                                       text_of(item, "rule"), text_of(item, "meaning")});
    }
    context.console().print(render(document, format_of(arguments)));
    return 0;
}

}  // namespace

Command config_set_command() {
    return {{"config", "set"},
            {},
            "change an item of the cluster's configuration",
            {{"name", "name of the item; 'svcctl config schema' lists them"},
             {"value", "its value; '' for the default"}},
            {timeout_flag()},
            set_configuration};
}

Command config_show_command() {
    return {{"config", "show"}, {}, "show the cluster's configuration", {}, {format_flag("yaml")},
            show_configuration};
}

Command config_schema_command() {
    return {{"config", "schema"},   {},         "list what can be configured, and what for", {},
            {format_flag("table")}, show_schema};
}

}  // namespace svc::cli
