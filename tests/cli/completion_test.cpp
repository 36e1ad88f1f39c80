#include "cli/command_line/completion.h"

#include <catch2/catch.hpp>
#include <chrono>

#include "cli/commands/all_commands.h"
#include "libsvc/base/processes/process.h"
#include "tests/cli/run_cli.h"
#include "tests/support/eventually.h"

using namespace svc;
using namespace svc::test;

namespace {

// What bash offers after `words`, the last of which is being typed.
std::string offered(const std::string& words) {
    const std::string script =
        cli::bash_completion(cli::all_commands()) + "COMP_WORDS=(svcctl " + words +
        ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_svcctl\necho \"${COMPREPLY[*]}\"\n";
    const CommandResult result = run_command({"/bin/bash", "-c", script}, long_wait);
    REQUIRE(result.status.code == 0);
    return result.output;
}

}  // namespace

TEST_CASE("bash completes commands, groups and flags") {
    CHECK(offered("lau") == "launch\n");
    CHECK(offered("image u") == "update\n");
    CHECK(offered("launch --instance") == "--instance-type\n");
    CHECK(offered("image list --for") == "--format\n");
    CHECK(offered("--socket /x image list --format js") == "json\n");
    CHECK(offered("completion z") == "zsh\n");
}

TEST_CASE("every shell's script names every group") {
    for (const auto* shell : {"bash", "zsh", "fish"}) {
        const CliRun run = run_cli({"completion", shell});
        CHECK(run.status == 0);
        for (const auto* word : {"image", "operation", "set-default", "launch", "instance-type"})
            CHECK_THAT(run.out, Catch::Contains(word));
    }
}
