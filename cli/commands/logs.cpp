#include <algorithm>
#include <array>

#include "cli/actions/exec_in_instance.h"
#include "cli/actions/object_lookup.h"
#include "cli/commands/commands.h"
#include "cli/output/values.h"

namespace svc::cli {
namespace {

struct LogType {
    std::string_view name;
    std::string_view stored;   // its name among the stored logs of a failed instance
    std::string_view files;    // patterns of files in the instance
    std::string_view journal;  // commands that print the log when no file exists, tried one after another
};
constexpr std::array log_types{
    LogType{"agent", "system.log", "/var/lib/svc-agent/logs/*.log",
            "journalctl --no-pager -u svc-agent.service"},
    LogType{"android", "android.log", "/var/lib/svc-agent/logs/android.log /var/lib/svc-agent/data/logs/*",
            ""},
    LogType{"console", "console.log", "/var/lib/svc-agent/logs/console.log", ""},
    LogType{"container", "container.log", "/var/lib/svc-agent/logs/container.log", ""},
};

const LogType& log_type(std::string_view name) {
    return *std::find_if(log_types.begin(), log_types.end(),
                         [&](const LogType& type) { return type.name == name; });
}

// A shell command that prints the files, or else the journal.
std::vector<std::string> log_command(const LogType& type, bool follow) {
    std::string script = "files=; for file in " + std::string(type.files) +
                         "; do [ -f \"$file\" ] && files=\"$files $file\"; done\n"
                         "[ -z \"$files\" ] || exec " +
                         (follow ? "tail -n +1 -f" : "cat") + " $files\n";
    if (!type.journal.empty())
        script += "command -v journalctl >/dev/null 2>&1 && exec " + std::string(type.journal) +
                  (follow ? " -n all -f" : "") + "\n";
    script += "echo 'no " + std::string(type.name) + " log in the instance' >&2; exit 1\n";
    return {"sh", "-c", script};
}

bool print_stored(Context& context, const std::string& id, const LogType& type) {
    const Json record = context.client().instance(id);
    const JsonArray& stored = items_of(record, "stored_logs");
    if (std::find(stored.begin(), stored.end(), Json(type.stored)) == stored.end()) return false;
    context.client().read_instance_log(id, type.stored,
                                       [&](std::string_view piece) { context.console().print(piece); });
    return true;
}

// Reads the stored log of a failed instance; reads the log of any other instance inside it.
int logs(Context& context, const Arguments& arguments) {
    const std::string id = instance_named(context.client(), arguments.text("id"));
    const LogType& type = log_type(arguments.text("type"));
    if (print_stored(context, id, type)) return 0;
    ExecRequest request;
    request.command = log_command(type, arguments.is_set("follow"));
    return run_in_instance(context, id, request);
}

int show_log(Context& context, const Arguments& arguments) {
    const std::string id = instance_named(context.client(), arguments.text("id"));
    context.client().read_instance_log(id, arguments.text("log"),
                                       [&](std::string_view piece) { context.console().print(piece); });
    return 0;
}

}  // namespace

Command logs_command() {
    return {{"logs"},
            {},
            "show a log of an instance",
            {{"id", "id or name of the instance"}},
            {{"type",
              't',
              "TYPE",
              "agent: of svc-agent; android: of the guest; console: what it printed; container: errors of "
              "the runtime",
              "agent",
              {"agent", "android", "console", "container"}},
             {"follow", 'f', "", "go on with what is added"}},
            logs};
}

Command show_log_command() {
    return {{"show-log"},
            {},
            "print a stored log of a failed instance",
            {{"id", "id or name of the instance"},
             {"log", "name of the log: container.log, system.log, console.log"}},
            {},
            show_log,
            "'svcctl show <id>' lists the logs that are stored."};
}

}  // namespace svc::cli
