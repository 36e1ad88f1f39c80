#include "cli/run.h"

#include "cli/command_line/help.h"
#include "cli/command_line/parser.h"
#include "cli/commands/all_commands.h"
#include "cli/output/terminal_text.h"
#include "libsvc/model/values/api.h"

namespace svc::cli {
namespace {

enum ExitStatus { exit_refused = 1, exit_usage = 2, exit_unreachable = 3 };

int run_command(const Invocation& invocation, const Environment& environment, const Console& console) {
    Context context(environment, invocation.arguments);
    try {
        return invocation.command->run(context, invocation.arguments);
    } catch (const UsageError&) {
        throw;
    } catch (const Error& e) {
        if (e.code() != ErrorCode::unavailable) throw;
        console.print_error_line(printable("Error: " + context.explain_unreachable(e.what())));
        return exit_unreachable;
    }
}

int run_words(const std::vector<std::string>& words, const Environment& environment, const Console& console) {
    const Invocation invocation = parse_command_line(all_commands(), words);
    if (invocation.version) {
        console.print_line("svcctl " + std::string(service_version));
    } else if (invocation.command == nullptr) {
        console.print(invocation.group.empty() ? program_help(all_commands())
                                               : group_help(all_commands(), invocation.group));
    } else if (invocation.help) {
        console.print(command_help(all_commands(), *invocation.command));
    } else {
        return run_command(invocation, environment, console);
    }
    return 0;
}

int report(const Console& console, const std::exception& error, int status) noexcept {
    try {
        console.print_error_line(printable(std::string("Error: ") + error.what()));
    } catch (const std::exception&) {
        // stderr is closed; the exit status still tells.
    }
    return status;
}

}  // namespace

int run(const std::vector<std::string>& words, const Environment& environment) noexcept {
    const Console console(environment.in, environment.out, environment.err);
    try {
        return run_words(words, environment, console);
    } catch (const UsageError& e) {
        return report(console, e, exit_usage);
    } catch (const std::exception& e) {
        return report(console, e, exit_refused);
    }
}

}  // namespace svc::cli
