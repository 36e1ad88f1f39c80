#include "cli/commands/commands.h"
#include "cli/connection/context.h"
#include "cli/output/json.h"
#include "cli/output/yaml.h"
#include "libsvc/base/strings.h"
#include "libsvc/client/event_stream.h"

namespace svc::cli {
namespace {

constexpr std::chrono::seconds reconnect_pause{1};

std::string types_of(const Arguments& arguments) {
    std::vector<std::string> types;
    for (const auto& type : arguments.comma_list("type")) {
        if (type == "all") return "";
        if (type == "operations" || type == "operation")
            types.emplace_back("operation");
        else if (type == "lifecycle" || type == "logging" || type == "audit")
            types.push_back(type);
        else
            throw UsageError("--type: " + quoted(type) +
                             " is none of lifecycle, logging, operations, audit, all");
    }
    return join(types, ",");
}

int monitor(Context& context, const Arguments& arguments) {
    const bool json = arguments.text("format") == "json";
    const std::string types = types_of(arguments);
    SystemClock clock;
    std::optional<std::int64_t> last;
    std::optional<EventStream> events(std::in_place, context.target(), types, last);
    while (true) {
        try {
            if (!events) events.emplace(context.target(), types, last);
            const auto event = events->next();
            if (!event) continue;
            if (const Json* sequence = event->find("sequence")) last = sequence->as_int();
            context.console().print(json ? render_json_line(*event) : render_yaml_document(*event));
        } catch (const Error& e) {
            if (e.code() != ErrorCode::unavailable) throw;
            if (events) context.console().print_error_line(std::string(e.what()) + "; connecting again");
            events.reset();
            clock.wait({}, reconnect_pause);
        }
    }
}

}  // namespace

Command monitor_command() {
    return {{"monitor"},
            {},
            "follow events until interrupted, across restarts of the service",
            {},
            {{"type",
              't',
              "LIST",
              "lifecycle, logging, operations, audit, or all but the audit (default), separated by commas",
              "",
              {},
              true},
             {"format", 'o', "FORMAT", "yaml, or json: one line per event", "yaml", {"yaml", "json"}}},
            monitor};
}

}  // namespace svc::cli
