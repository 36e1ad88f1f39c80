#include "cli/run.h"

#include "cli/line/arguments.h"
#include "cli/line/help.h"
#include "libsvc/model/values/api.h"

namespace svc::cli {
namespace {

enum ExitStatus { refused = 1, usage = 2, unreachable = 3 };

int run_command(const Invocation& invocation, const Environment& environment, const Console& console) {
    Context context(environment, invocation.arguments);
    try {
        return invocation.command->run(context, invocation.arguments);
    } catch (const UsageError&) {
        throw;
    } catch (const Error& e) {
        if (e.code() != ErrorCode::unavailable) throw;
        console.print_error_line("Error: " + context.explain_unreachable(e.what()));
        return unreachable;
    }
}

int run_words(const std::vector<std::string>& words, const Environment& environment, const Console& console) {
    const Invocation invocation = parse_command_line(words);
    if (invocation.version) {
        console.print_line("svcctl " + std::string(service_version));
    } else if (invocation.command == nullptr) {
        console.print(invocation.group.empty() ? program_help() : group_help(invocation.group));
    } else if (invocation.help) {
        console.print(command_help(*invocation.command));
    } else {
        return run_command(invocation, environment, console);
    }
    return 0;
}

int report(const Console& console, const std::exception& error, int status) noexcept {
    try {
        console.print_error_line(std::string("Error: ") + error.what());
    } catch (const std::exception&) {
        // Nobody reads what we would say; the exit status still tells.
    }
    return status;
}

}  // namespace

int run(const std::vector<std::string>& words, const Environment& environment) noexcept {
    const Console console(environment.in, environment.out, environment.err);
    try {
        return run_words(words, environment, console);
    } catch (const UsageError& e) {
        return report(console, e, usage);
    } catch (const std::exception& e) {
        return report(console, e, refused);
    }
}

}  // namespace svc::cli
