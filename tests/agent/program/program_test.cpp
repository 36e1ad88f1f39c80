// The program itself: what it does as a container's first process, in processes of the test's own.
#include <signal.h>

#include "libsvc/base/processes/process.h"
#include "tests/agent/phases/place.h"
#include "tests/support/eventually.h"

using namespace svc;
using test::Place;

namespace {

// Where nobody answers, so that reports are given up at their limit: keep failing starts few.
std::string session_file(const Place& place) {
    const auto file = place.paths.data / "session.json";
    place.write(file, place.session.to_json().dump(), 0600);
    return file;
}

std::filesystem::path write_init(const Place& place, const std::string& script) {
    place.write(place.path() / "init", "#!/bin/sh\n" + script + "\n", 0755);
    return place.path() / "init";
}

CommandResult run_agent(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), SVC_AGENT_PROGRAM);
    return run_command(arguments, test::long_wait);
}

// Ends the processes that a killed first process leaves running.
void kill_those_in(const std::filesystem::path& directory) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
        const std::string pid = entry.path().filename();
        const bool is_process = pid.find_first_not_of("0123456789") == std::string::npos;
        if (is_process && std::filesystem::read_symlink(entry.path() / "cwd", ignored) == directory)
            ::kill(static_cast<pid_t>(std::stol(pid)), SIGKILL);
    }
}

}  // namespace

TEST_CASE("after the hooks the agent becomes the guest's init, with signals as they were") {
    Place place;
    place.add_package("ssh", {{"pre-start", test::note_order(place, "pre-start")}});
    // Only what the shell does itself: it blocks signals while it starts programs.
    const auto init =
        write_init(place,
                   "echo \"$@\"; echo /proc/$$/fd/*; while read -r line; do\n"
                   "case $line in SigBlk*|SigIgn*) echo \"$line\";; esac; done < /proc/$$/status");
    const auto result = run_agent({"--session", session_file(place), "--boot", "--", init, "one", "--two"});
    CHECK(result.status.code == 0);
    CHECK(place.read("order") == "pre-start\n");
    CHECK_THAT(result.output, Catch::StartsWith("one --two\n"));
    CHECK_THAT(result.output, Catch::EndsWith("\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n"));
    CHECK_THAT(result.output, !Catch::Contains("/fd/4"));  // 3 is what the shell lists with
}

TEST_CASE("without a session the agent becomes init at once") {
    Place place;
    const auto init = write_init(place, "exit 7");
    CHECK(run_agent({"--session", place.path() / "absent", "--boot", "--", init}).status.code == 7);
}

TEST_CASE("orphans of hooks are reaped before the guest starts") {
    Place place;
    // Two that end at once and a moment later. The hook ends when both are dead, be they reaped or not.
    place.add_package("ssh", {{"pre-start",
                               "( sh -c 'exit 0' & echo $! > one ); ( sleep 0.05 & echo $! > two )\n"
                               "for file in one two; do\n"
                               "  read -r pid < $file\n"
                               "  while read -r stat < /proc/$pid/stat; do\n"
                               "    case $stat in *') Z '*) break;; esac\n"
                               "  done\n"
                               "done"}});
    const auto init = write_init(place, "read -r children < /proc/$$/task/$$/children; echo \"<$children>\"");
    const auto result = run_agent({"--session", session_file(place), "--boot", "--", init});
    CHECK(result.output == "<>\n");
}

TEST_CASE("a first process that is told to end does so at once") {
    const int signal = GENERATE(SIGTERM, SIGPWR, SIGUSR2, SIGINT, SIGRTMIN + 3);
    Place place;
    place.add_package("slow",
                      {{"pre-start", "echo up > " + (place.path() / "up").string() + "; sleep 1000"}});
    SpawnOptions options;
    options.arguments = {SVC_AGENT_PROGRAM, "--session", session_file(place), "--boot", "--", "/bin/true"};
    Child agent(options);
    test::eventually("the hook runs",
                     [&] { return place.has("up") || agent.wait_for(std::chrono::milliseconds(0)); });
    agent.kill(signal);
    CHECK(agent.wait().code == 128 + signal);
    kill_those_in(place.paths.addons() / "slow");
}

TEST_CASE("after the guest a failed hook is status 2 and the last line of errors") {
    Place place;
    place.session.service_socket = "";
    place.add_package("ssh", {{"post-stop", "echo code $RUNTIME_EXIT_CODE; exit 1"}});
    const auto result = run_agent({"--session", session_file(place), "--after", "--exit-code", "3"});
    CHECK(result.status.code == 2);
    CHECK_THAT(result.errors,
               Catch::EndsWith("\nhook post-stop of addon ssh failed: exit status 1: code 3\n"));
    place.write(place.paths.addons() / "ssh/hooks/post-stop", "#!/bin/sh\n", 0755);
    CHECK(run_agent({"--session", session_file(place), "--after"}).status.code == 0);
}

TEST_CASE("wrong usage is status 2") {
    for (const std::vector<std::string>& bad :
         std::vector<std::vector<std::string>>{{"--boot"},
                                               {"--boot", "--after", "--", "x"},
                                               {"--exit-code", "1"},
                                               {"--after", "--exit-code", "x"},
                                               {"stray"}})
        CHECK(run_agent(bad).status.code == 2);
}
