// Sessions of the stream gateway.
#include <charconv>

#include "cli/commands/commands.h"
#include "cli/connection/context.h"
#include "cli/connection/gateway_target.h"
#include "cli/output/document.h"
#include "cli/output/table.h"
#include "cli/output/values.h"
#include "libsvc/base/strings.h"

namespace svc::cli {
namespace {

constexpr std::size_t reason_width = 40;  // columns in a table; a reason may have a thousand characters

[[noreturn]] void throw_bad_screen(const std::string& text) {
    throw UsageError("--screen: " + quoted(text) + " is not of the form 1280x720");
}

int pixels(std::string_view part, const std::string& whole) {
    int value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc() || end != part.data() + part.size() || value < 1) throw_bad_screen(whole);
    return value;
}

// Null without these flags: then the gateway uses its defaults.
Json screen_of(const Arguments& arguments) {
    Json screen;
    if (arguments.given("screen")) {
        const std::string text = arguments.text("screen");
        const auto parts = split(text, 'x');
        if (parts.size() != 2) throw_bad_screen(text);
        screen.set("width", pixels(parts[0], text));
        screen.set("height", pixels(parts[1], text));
    }
    if (const auto density = arguments.integer("density")) screen.set("density", *density);
    return screen;
}

Json extra_data_of(const Arguments& arguments) {
    try {
        return Json::parse(arguments.text("extra-data"));
    } catch (const Error& e) {
        throw UsageError(std::string("--extra-data: ") + e.what());
    }
}

Json request_of_session(const Arguments& arguments) {
    Json request = Json::object({{"app", arguments.text("app")},
                                 {"joinable", arguments.is_set("joinable")},
                                 {"ephemeral", !arguments.is_set("keep")}});
    if (const auto version = arguments.integer("app-version")) request.set("app_version", *version);
    if (arguments.given("account")) request.set("account", arguments.text("account"));
    if (arguments.given("region")) request.set("region", arguments.text("region"));
    if (const auto minutes = arguments.integer("idle-time")) request.set("idle_time_min", *minutes);
    if (arguments.given("extra-data")) request.set("extra_data", extra_data_of(arguments));
    Json screen = screen_of(arguments);
    if (const auto fps = arguments.integer("fps")) screen.set("fps", *fps);
    if (!screen.is_null()) request.set("screen", std::move(screen));
    return request;
}

int list_sessions(Context& context, const Arguments& arguments) {
    Document document{Json::array(),
                      {{"ID", "APP", "REGION", "STATUS", "INSTANCE", "JOINABLE", "ACCOUNT", "REASON"}, {}}};
    const Format format = format_of(arguments);
    for (const Json& session : context.gateway().sessions(arguments.text("status"))) {
        document.value.push_back(session);
        const std::string reason = text_of(session, "status_message");
        document.table.rows.push_back({text_of(session, "id"), text_of(session, "app"),
                                       text_of(session, "region"), text_of(session, "status"),
                                       text_of(session, "container_id"), yes_no(is_true(session, "joinable")),
                                       text_of(session, "account"),
                                       format == Format::table ? in_lines(reason, reason_width) : reason});
    }
    context.console().print(render(document, format));
    return 0;
}

int print_one(Context& context, const Arguments& arguments, Json session) {
    context.console().print(render(describe(std::move(session)), format_of(arguments)));
    return 0;
}

int show_session(Context& context, const Arguments& arguments) {
    return print_one(context, arguments, context.gateway().session(arguments.text("id")));
}

int create_session(Context& context, const Arguments& arguments) {
    const Json request = request_of_session(arguments);
    const Json session = context.gateway().create_session(request);
    if (!arguments.given("account") && !arguments.given("gateway-url"))
        context.console().print_error_line(
            "The session is no account's: pages show it to administrators alone. --account makes it one's.");
    return print_one(context, arguments, session);
}

int join_session(Context& context, const Arguments& arguments) {
    Json request = Json::object();
    if (Json screen = screen_of(arguments); !screen.is_null()) request.set("screen", std::move(screen));
    return print_one(context, arguments, context.gateway().join_session(arguments.text("id"), request));
}

int remove_session(Context& context, const Arguments& arguments) {
    const SessionRemoval how{arguments.is_set("force"), !arguments.is_set("no-wait")};
    const auto& ids = arguments.list("id");
    if (ids.size() == 1) {
        context.gateway().delete_session(ids.front(), how);
        return 0;
    }
    const Json result = context.gateway().delete_sessions(ids, how);
    const JsonArray& errors = items_of(result, "errors");
    for (const Json& error : errors)
        context.console().print_error_line("Error: " + text_of(error, "session_id") + ": " +
                                           text_of(error, "error_message"));
    return errors.empty() ? 0 : 1;
}

Positional one_session() {
    return {"id", "id of the session"};
}

Flag screen_flag() {
    return {"screen", 0, "WxH", "size of the display in pixels, 1280x720"};
}

Flag density_flag() {
    return {"density", 0, "DPI", "dots per inch, 72 or more"};
}

Command create_command() {
    return {{"gateway", "session", "create"},
            {},
            "have an application launched and show how to watch it",
            {{"app", "name of the application"}},
            with_gateway_flags(
                {{"account", 'a', "NAME",
                  "whose it is, and whose page shows it (default: the token's, else nobody's)"},
                 {"app-version", 0, "NUMBER", "version of the application (default: the last published)"},
                 {"region", 'r', "NAME", "where it is to run (default: the least loaded)"},
                 {"joinable", 'j', "", "let others join after the first has left"},
                 {"idle-time", 0, "MINUTES",
                  "without a client until it ends; 0: it does not (default: the gateway's, 30)"},
                 {"keep", 0, "", "keep the record for a while after the end"},
                 {"extra-data", 0, "JSON", "any JSON, for the instance"},
                 screen_flag(),
                 density_flag(),
                 {"fps", 0, "NUMBER", "frames per second"},
                 format_flag("yaml")}),
            create_session,
            "The url is for one connection within five minutes. The instance may still be starting then."};
}

}  // namespace

std::vector<Command> gateway_session_commands() {
    return {{{"gateway", "session", "list"},
             {"ls"},
             "list sessions",
             {},
             with_gateway_flags({{"status",
                                  's',
                                  "STATUS",
                                  "only those with it",
                                  "",
                                  {"created", "active", "error", "terminating", "terminated"}},
                                 format_flag("table")}),
             list_sessions},
            {{"gateway", "session", "show"},
             {},
             "show a session",
             {one_session()},
             with_gateway_flags({format_flag("yaml")}),
             show_session},
            create_command(),
            {{"gateway", "session", "join"},
             {},
             "take over a session: its present client is disconnected",
             {one_session()},
             with_gateway_flags({screen_flag(), density_flag(), format_flag("yaml")}),
             join_session},
            {{"gateway", "session", "delete"},
             {"rm"},
             "end sessions and delete their instances",
             {{"id", "ids of the sessions", true, true}},
             with_gateway_flags({{"force", 'f', "", "forget them even if their region does not answer"},
                                 {"no-wait", 0, "", "do not wait until the instances are gone"}}),
             remove_session}};
}

}  // namespace svc::cli
