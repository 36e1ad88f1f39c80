#include "cli/actions/adb.h"

#include "cli/actions/object_lookup.h"
#include "cli/commands/commands.h"

namespace svc::cli {
namespace {

constexpr std::int64_t last_tcp_port = 65535;

int run_adb_command(Context& context, const Arguments& arguments) {
    const std::int64_t port = arguments.integer("port").value_or(0);
    if (port < 1 || port > last_tcp_port) throw UsageError("--port is a number from 1 to 65535");
    return run_adb(context, instance_named(context.client(), arguments.text("id")),
                   static_cast<std::uint16_t>(port), arguments.list("words"));
}

}  // namespace

Command adb_command() {
    return {{"adb"},
            {},
            "run adb for an Android guest",
            {{"id", "id or name of the instance"},
             {"words", "adb's command and its arguments, after --", true, true}},
            {{"port", 0, "PORT", "of adbd in the instance", "5555"}},
            run_adb_command,
            "Needs adb on this machine. The connection goes through the service's API, as with `forward`: "
            "adbd need\n"
            "not be a service of the instance. The exit status is adb's.\n\n"
            "svcctl adb <id> -- shell getprop ro.build.version.release\n"
            "svcctl adb <id> -- install game.apk"};
}

}  // namespace svc::cli
