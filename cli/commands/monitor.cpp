#include "cli/commands/commands.h"
#include "cli/context.h"
#include "cli/output/json.h"
#include "cli/output/yaml.h"
#include "libsvc/base/strings.h"
#include "libsvc/client/event_stream.h"

namespace svc::cli {
namespace {

std::string types_of(const Arguments& arguments) {
    std::vector<std::string> types;
    for (const auto& type : arguments.comma_list("type")) {
        if (type == "all") return "";
        if (type == "operations" || type == "operation")
            types.emplace_back("operation");
        else if (type == "lifecycle" || type == "logging")
            types.push_back(type);
        else
            throw UsageError("--type: " + quoted(type) + " is none of lifecycle, logging, operations, all");
    }
    return join(types, ",");
}

int monitor(Context& context, const Arguments& arguments) {
    const bool json = arguments.text("format") == "json";
    EventStream events(context.target(), types_of(arguments));
    while (true) {
        const auto event = events.next();
        if (event) context.console().print(json ? render_json_line(*event) : render_yaml_document(*event));
    }
}

}  // namespace

Command monitor_command() {
    return {{"monitor"},
            {},
            "follow events until interrupted",
            {},
            {{"type",
              't',
              "LIST",
              "lifecycle, logging, operations or all (default), separated by commas",
              "",
              {},
              true},
             {"format", 'o', "FORMAT", "yaml, or json: one line per event", "yaml", {"yaml", "json"}}},
            monitor};
}

}  // namespace svc::cli
