#include "cli/actions/user_program.h"
#include "cli/commands/commands.h"
#include "cli/connection/context.h"
#include "cli/output/values.h"
#include "libsvc/client/sessions.h"

namespace svc::cli {
namespace {

// The first address is the one where the service was asked, or else one by which others reach it.
std::string login_url(Context& context, const std::string& role) {
    if (!has_console(context.client()))
        throw Error(ErrorCode::unsupported, "this service was built without the console");
    const Json link = make_login_link(context.client(), role);
    const JsonArray& urls = link.at("urls").as_array();
    if (urls.empty())
        throw Error(ErrorCode::unsupported,
                    "the service has no address for browsers: its option listen is none");
    return urls.front().as_string();
}

bool open_browser(Context& context, const std::string& url) {
    if (!context.environment().has_display) return false;
    return run_user_program({"xdg-open", url},
                            {{context.environment().err, 1}, {context.environment().err, 2}}) == 0;
}

// The link is printed where no browser can be opened: over SSH, for example.
int open_console(Context& context, const Arguments& arguments) {
    const std::string url = login_url(context, arguments.text("role"));
    if (!arguments.is_set("print") && open_browser(context, url)) return 0;
    context.console().print_error_line("Good for one browser, within a minute:");
    context.console().print_line(url);
    return 0;
}

}  // namespace

Command ui_command() {
    return {{"ui"},
            {},
            "open the console in a browser",
            {},
            {{"print", 0, "", "print the link instead"},
             {"role",
              0,
              "ROLE",
              "what the browser may do; without it, what this client may",
              "",
              {"viewer", "operator", "admin"}}},
            open_console,
            "The link logs one browser in. Without a display it is printed."};
}

}  // namespace svc::cli
