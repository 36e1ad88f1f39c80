#include "cli/actions/object_lookup.h"
#include "cli/commands/commands.h"
#include "cli/connection/context.h"
#include "cli/output/document.h"
#include "cli/output/values.h"

namespace svc::cli {
namespace {

int list_operations(Context& context, const Arguments& arguments) {
    Document document{Json::array(), {{"ID", "DESCRIPTION", "STATUS", "CREATED", "CANCELABLE"}, {}}};
    for (const Json& record : context.client().operations()) {
        document.value.push_back(record);
        document.table.rows.push_back({text_of(record, "id"), text_of(record, "description"),
                                       text_of(record, "status"), shown_time(text_of(record, "created_at")),
                                       yes_no(is_true(record, "may_cancel"))});
    }
    context.console().print(render(document, format_of(arguments)));
    return 0;
}

int show_operation(Context& context, const Arguments& arguments) {
    const Json record = context.client().operation(operation_named(context.client(), arguments.text("id")));
    context.console().print(render(describe(record), format_of(arguments)));
    return 0;
}

int cancel(Context& context, const Arguments& arguments) {
    context.client().cancel_operation(operation_named(context.client(), arguments.text("id")));
    return 0;
}

int list_tasks(Context& context, const Arguments& arguments) {
    Document document{Json::array(), {{"ID", "STATUS", "OBJECT ID", "OBJECT TYPE"}, {}}};
    for (const Json& task : context.client().tasks()) {
        document.value.push_back(task);
        document.table.rows.push_back({text_of(task, "id"), text_of(task, "status"),
                                       text_of(task, "object_id"), text_of(task, "object_type")});
    }
    context.console().print(render(document, format_of(arguments)));
    return 0;
}

}  // namespace

Command operation_list_command() {
    return {{"operation", "list"}, {"ls"}, "list operations", {}, {format_flag("table")}, list_operations};
}

Command operation_show_command() {
    return {{"operation", "show"}, {},
            "show an operation",   {{"id", "id of the operation"}},
            {format_flag("yaml")}, show_operation};
}

Command operation_cancel_command() {
    return {{"operation", "cancel"},         {}, "cancel a running operation",
            {{"id", "id of the operation"}}, {}, cancel};
}

Command task_list_command() {
    return {{"task", "list"}, {"ls"}, "list tasks", {}, {format_flag("table")}, list_tasks};
}

}  // namespace svc::cli
