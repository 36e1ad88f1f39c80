#include <algorithm>

#include "cli/commands/commands.h"
#include "cli/connection/context.h"
#include "cli/output/json.h"
#include "cli/output/yaml.h"
#include "libsvc/base/strings.h"
#include "libsvc/client/event_stream.h"

namespace svc::cli {
namespace {

constexpr std::chrono::seconds reconnect_pause{1};

// Its entries have numbers of their own, so that nothing else can be followed with them.
std::string audit_alone(const std::vector<std::string>& types) {
    if (types.size() > 1) throw UsageError("--type: audit is followed by itself");
    return "audit";
}

std::string types_of(const Arguments& arguments) {
    const std::vector<std::string> wanted = arguments.comma_list("type");
    if (std::ranges::find(wanted, "audit") != wanted.end()) return audit_alone(wanted);
    std::vector<std::string> types;
    for (const auto& type : wanted) {
        if (type == "all") return "";
        if (type == "operations" || type == "operation")
            types.emplace_back("operation");
        else if (type == "lifecycle" || type == "logging")
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
              "lifecycle, logging, operations, separated by commas, or all of these (default); or audit",
              "",
              {},
              true},
             {"format", 'o', "FORMAT", "yaml, or json: one line per event", "yaml", {"yaml", "json"}}},
            monitor};
}

}  // namespace svc::cli
