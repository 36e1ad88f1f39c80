#include "cli/actions/operation_wait.h"
#include "cli/commands/commands.h"
#include "cli/output/document.h"
#include "cli/output/values.h"

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

}  // namespace

Command config_set_command() {
    return {{"config", "set"},
            {},
            "change an item of the cluster's configuration",
            {{"name", "name of the item; 'svcctl config show' lists them"},
             {"value", "its value; '' for the default"}},
            {timeout_flag()},
            set_configuration};
}

Command config_show_command() {
    return {{"config", "show"}, {}, "show the cluster's configuration", {}, {format_flag("yaml")},
            show_configuration};
}

}  // namespace svc::cli
