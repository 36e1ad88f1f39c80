#include "cli/command_line/completion.h"
#include "cli/commands/all_commands.h"
#include "cli/commands/commands.h"
#include "cli/connection/context.h"

namespace svc::cli {
namespace {

int completion(Context& context, const Arguments& arguments) {
    const std::string shell = arguments.text("shell");
    if (shell == "bash")
        context.console().print(bash_completion(all_commands()));
    else if (shell == "zsh")
        context.console().print(zsh_completion(all_commands()));
    else if (shell == "fish")
        context.console().print(fish_completion(all_commands()));
    else
        throw UsageError("no completion for shell '" + shell + "': bash, zsh or fish");
    return 0;
}

}  // namespace

Command completion_command() {
    return {{"completion"},
            {},
            "print a completion script for bash, zsh or fish",
            {{"shell", "bash, zsh or fish"}},
            {},
            completion,
            "bash: source <(svcctl completion bash)\n"
            "zsh:  svcctl completion zsh > \"${fpath[1]}/_svcctl\"\n"
            "fish: svcctl completion fish > ~/.config/fish/completions/svcctl.fish"};
}

}  // namespace svc::cli
