// Commands for the gateway itself, its accounts and its regions.
#include "cli/commands/commands.h"
#include "cli/connection/context.h"
#include "cli/connection/gateway_target.h"
#include "cli/output/document.h"
#include "cli/output/values.h"

namespace svc::cli {
namespace {

int status(Context& context, const Arguments& arguments) {
    const Json found = context.gateway().status();
    context.console().print(render(describe(found), format_of(arguments)));
    return text_of(found, "status") == "healthy" ? 0 : 1;
}

int create_account(Context& context, const Arguments& arguments) {
    const Json account = context.gateway().create_account(arguments.text("name"), arguments.text("expiry"),
                                                          arguments.is_set("admin"));
    const Console& console = context.console();
    // When stdout is redirected, the line on stderr does not announce the token.
    console.print_error_line("Account " + text_of(account, "name") + ", good until " +
                             shown_time(text_of(account, "expires_at")) +
                             (console.out_is_terminal() ? ". Its token, told only now:" : "."));
    console.print_line(text_of(account, "token"));
    return 0;
}

int list_accounts(Context& context, const Arguments& arguments) {
    Document document{Json::array(), {{"NAME", "CREATED", "EXPIRES", "ADMIN"}, {}}};
    for (const Json& account : context.gateway().accounts()) {
        document.value.push_back(account);
        document.table.rows.push_back({text_of(account, "name"), shown_time(text_of(account, "created_at")),
                                       shown_time(text_of(account, "expires_at")),
                                       yes_no(is_true(account, "admin"))});
    }
    context.console().print(render(document, format_of(arguments)));
    return 0;
}

int delete_account(Context& context, const Arguments& arguments) {
    context.gateway().delete_account(arguments.text("name"));
    return 0;
}

int list_regions(Context& context, const Arguments& arguments) {
    Document document{Json::array(), {{"NAME"}, {}}};
    for (const Json& region : context.gateway().regions()) {
        document.value.push_back(region);
        document.table.rows.push_back({text_of(region, "name")});
    }
    context.console().print(render(document, format_of(arguments)));
    return 0;
}

int list_gateway_applications(Context& context, const Arguments& arguments) {
    Document document{Json::array(), {{"NAME", "STREAMS"}, {}}};
    for (const Json& application : context.gateway().applications()) {
        document.value.push_back(application);
        document.table.rows.push_back(
            {text_of(application, "name"), yes_no(is_true(application, "streams"))});
    }
    context.console().print(render(document, format_of(arguments)));
    return 0;
}

Positional one_account() {
    return {"name", "name of the account"};
}

}  // namespace

std::vector<Command> gateway_commands() {
    const std::vector<Flag> of_lists = with_gateway_flags({format_flag("table")});
    return {{{"gateway", "status"},
             {},
             "show whether the gateway is well",
             {},
             with_gateway_flags({format_flag("yaml")}),
             status,
             "The exit status is 0 when it is healthy, 1 when it is not."},
            {{"gateway", "account", "create"},
             {},
             "make an account and print its token",
             {one_account()},
             with_gateway_flags(
                 {{"expiry", 'e', "WHEN", "how long the token is good, 720h or a time in RFC 3339", "8760h"},
                  {"admin", 0, "", "it sees everybody's sessions, and makes them for others"}}),
             create_account,
             "The token is told once. Accounts are managed on the gateway's local socket alone."},
            {{"gateway", "account", "list"}, {"ls"}, "list accounts", {}, of_lists, list_accounts},
            {{"gateway", "account", "delete"},
             {"rm"},
             "delete an account; its token is worth nothing from then on",
             {one_account()},
             with_gateway_flags(),
             delete_account},
            {{"gateway", "region", "list"}, {"ls"}, "list regions that answer", {}, of_lists, list_regions},
            {{"gateway", "application", "list"},
             {"ls"},
             "list applications, and which of them can be streamed",
             {},
             of_lists,
             list_gateway_applications}};
}

}  // namespace svc::cli
