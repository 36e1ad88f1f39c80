#include "cli/commands/commands.h"
#include "cli/connection/context.h"
#include "cli/output/document.h"
#include "cli/output/values.h"
#include "libsvc/base/strings.h"
#include "libsvc/client/sessions.h"

namespace svc::cli {
namespace {

int list_sessions(Context& context, const Arguments& arguments) {
    Document document{Json::array(),
                      {{"ID", "NAME", "ROLE", "METHOD", "ADDRESS", "LAST USE", "EXPIRES"}, {}}};
    for (const Json& session : sessions(context.client())) {
        document.value.push_back(session);
        document.table.rows.push_back({text_of(session, "id"), text_of(session, "name"),
                                       text_of(session, "role"), text_of(session, "method"),
                                       text_of(session, "address"), time_text(number_of(session, "used_at")),
                                       time_text(number_of(session, "expires_at"))});
    }
    context.console().print(render(document, format_of(arguments)));
    return 0;
}

// Each is tried; the last error is told.
int delete_sessions(Context& context, const Arguments& arguments) {
    int status = 0;
    for (const std::string& id : arguments.list("id")) try {
            end_session(context.client(), id);
        } catch (const Error& e) {
            if (e.code() == ErrorCode::unavailable) throw;
            context.console().print_error_line(quoted(id) + ": " + e.what());
            status = 1;
        }
    return status;
}

}  // namespace

std::vector<Command> session_commands(const std::vector<std::string>& group) {
    const auto path = [&](const char* word) {
        std::vector<std::string> path = group;
        path.insert(path.end(), {"session", word});
        return path;
    };
    return {
        {path("list"), {"ls"}, "list browsers that are logged in", {}, {format_flag("table")}, list_sessions},
        {path("delete"),
         {"rm"},
         "log browsers out",
         {{"id", "ids of sessions, as 'trust session list' shows them", true, true}},
         {},
         delete_sessions},
    };
}

}  // namespace svc::cli
