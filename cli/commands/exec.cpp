#include "cli/actions/exec_in_instance.h"
#include "cli/commands/commands.h"

namespace svc::cli {
namespace {

int run_there(Context& context, const Arguments& arguments, std::vector<std::string> command) {
    const Console& console = context.console();
    ExecRequest request;
    request.command = std::move(command);
    request.interactive =
        !arguments.is_set("force-noninteractive") && console.in_is_terminal() && console.out_is_terminal();
    const std::string& terminal = context.environment().terminal;
    if (request.interactive && !terminal.empty()) request.environment.emplace_back("TERM", terminal);
    return run_in_instance(context, arguments.text("id"), std::move(request));
}

Flag noninteractive_flag() {
    return {"force-noninteractive", 'T', "", "no terminal, even when there is one"};
}

}  // namespace

Command exec_command() {
    return {{"exec"},
            {},
            "run a command in an instance",
            {{"id", "id or name of the instance"},
             {"command", "the command and its arguments, after --", true, true}},
            {noninteractive_flag()},
            [](Context& context, const Arguments& arguments) {
                return run_there(context, arguments, arguments.list("command"));
            },
            "The command gets a terminal when standard input and output are one. The exit status is the "
            "command's;\n"
            "125: it could not be run; 124: the connection was lost.\n\n"
            "svcctl exec <id> -- ls -l /"};
}

Command shell_command() {
    return {{"shell"},
            {},
            "open a login shell in an instance",
            {{"id", "id or name of the instance"}},
            {noninteractive_flag()},
            [](Context& context, const Arguments& arguments) {
                const char* login =
                    "if command -v bash >/dev/null 2>&1; then exec bash -l; else exec sh -l; fi";
                return run_there(context, arguments, {"sh", "-c", login});
            }};
}

}  // namespace svc::cli
