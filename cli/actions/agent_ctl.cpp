#include "cli/actions/agent_ctl.h"

#include <fcntl.h>

#include "cli/actions/exec_in_instance.h"
#include "libsvc/base/file.h"

namespace svc::cli {

std::vector<std::string> ctl_command(std::vector<std::string> words, const std::vector<std::string>& plain) {
    words.insert(words.begin(), {"/var/lib/svc-agent/bin/svc-agent", "ctl"});
    if (plain.empty()) return words;
    words.emplace_back("--");
    words.insert(words.end(), plain.begin(), plain.end());
    return words;
}

std::vector<std::string> ctl_command(const Command& command, const Arguments& arguments) {
    std::vector<std::string> words(command.path.begin() + 1, command.path.end());
    for (const Flag& flag : command.flags)
        if (arguments.given(flag.name)) words.push_back("--" + flag.name + "=" + arguments.text(flag.name));
    std::vector<std::string> plain;
    for (const Positional& positional : command.positionals) {
        if (positional.name == "id") continue;
        const auto& given = arguments.list(positional.name);
        plain.insert(plain.end(), given.begin(), given.end());
    }
    return ctl_command(std::move(words), plain);
}

int run_ctl(Context& context, const std::string& instance, std::vector<std::string> command,
            CtlStreams streams) {
    FileDescriptor nothing;
    if (streams.in < 0) nothing = open_file("/dev/null", O_RDONLY);
    const Console& own = context.console();
    const Console joined(streams.in < 0 ? nothing.get() : streams.in,
                         streams.out < 0 ? own.out() : streams.out, own.err());
    ExecRequest request;
    request.command = std::move(command);
    return run_in_instance(context, instance, std::move(request), joined);
}

}  // namespace svc::cli
