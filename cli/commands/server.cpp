#include "cli/commands/commands.h"
#include "cli/connection/context.h"
#include "cli/output/document.h"
#include "cli/output/values.h"
#include "libsvc/model/values/api.h"

namespace svc::cli {
namespace {

int info(Context& context, const Arguments& arguments) {
    Json value = context.client().server();
    value.set("service_version", context.client().server_version());
    if (text_of(value, "auth") == "trusted") value.set("config", context.client().config());
    context.console().print(render(describe(std::move(value)), format_of(arguments)));
    return 0;
}

// Prints the client's version also when the service cannot be reached.
int version(Context& context, const Arguments& arguments) {
    Json value = Json::object({{"client", service_version}});
    const auto print = [&] { context.console().print(render(describe(value), format_of(arguments))); };
    try {
        value.set("server", context.client().server_version());
    } catch (const UsageError&) {
        throw;
    } catch (const Error&) {
        print();
        throw;
    }
    print();
    return 0;
}

}  // namespace

Command info_command() {
    return {{"info"}, {}, "show what the service is and can do", {}, {format_flag("yaml")}, info};
}

Command version_command() {
    return {{"version"}, {}, "show the versions of client and service", {}, {format_flag("yaml")}, version};
}

}  // namespace svc::cli
