#include "cli/actions/object_lookup.h"
#include "cli/actions/port_forward.h"
#include "cli/commands/commands.h"

namespace svc::cli {
namespace {

int run_forward(Context& context, const Arguments& arguments) {
    std::vector<PortForward> forwards;
    for (const std::string& text : arguments.list("forward")) forwards.push_back(parse_forward(text));
    return forward_ports(context, instance_named(context.client(), arguments.text("instance")), forwards);
}

}  // namespace

Command forward_command() {
    return {
        {"forward"},
        {},
        "let ports of this machine lead into an instance",
        {{"instance", "id or name of the instance"},
         {"forward", "LOCAL:REMOTE; REMOTE alone takes the same port here", true, true}},
        {},
        run_forward,
        "LOCAL is [ADDRESS:]PORT, empty for a free port of 127.0.0.1, or unix:PATH. REMOTE is a port of the\n"
        "instance's 127.0.0.1, or unix:PATH there. The bytes go through the service's API: nothing else has\n"
        "to be open. Prints where it listens, and runs until Ctrl-C.\n\n"
        "svcctl forward <id> 8080:80\n"
        "svcctl forward <id> :5555 8081:unix:/run/web.sock"};
}

}  // namespace svc::cli
