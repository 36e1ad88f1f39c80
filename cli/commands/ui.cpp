#include <cstdlib>
#include <filesystem>

#include "cli/actions/user_program.h"
#include "cli/commands/commands.h"
#include "cli/connection/context.h"
#include "cli/output/values.h"
#include "libsvc/base/file.h"
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

std::string in_html(const std::string& text) {
    std::string result;
    for (const char c : text) {
        if (c == '&' || c == '<' || c == '"')
            result += "&#" + std::to_string(static_cast<int>(c)) + ";";
        else
            result += c;
    }
    return result;
}

// A page that leads to the link, for this user's eyes: all users see what programs are called with. The next
// one replaces it, and the session's end removes it.
std::filesystem::path write_login_page(const std::filesystem::path& folder, const std::string& url) {
    auto page = folder / "svcctl-login.html";
    write_file_atomically(
        page, "<!doctype html><meta charset=\"utf-8\"><meta http-equiv=\"refresh\" content=\"0; url=" +
                  in_html(url) + "\">\n");
    return page;
}

// False: there is none, or no folder of this user alone.
bool open_browser(Context& context, const std::string& url) {
    const char* folder = std::getenv("XDG_RUNTIME_DIR");
    if (!context.environment().has_display || folder == nullptr || *folder == '\0') return false;
    return run_user_program({"xdg-open", write_login_page(folder, url).string()},
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
