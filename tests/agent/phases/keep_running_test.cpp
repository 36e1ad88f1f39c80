#include "instance-agent/agent/processes/keep_running.h"

#include <signal.h>
#include <thread>

#include "libsvc/base/processes/process.h"
#include "tests/agent/guest/guest_client.h"
#include "tests/agent/phases/place.h"
#include "tests/support/eventually.h"
#include "tests/support/manual_clock.h"

using namespace svc;
using namespace svc::test;
using namespace std::chrono_literals;

namespace {

struct KeeperWorld : Place {
    explicit KeeperWorld(const std::string& script) {
        write(path() / "program", "#!/bin/sh\ncd " + path().string() + "\n" + script + "\n", 0755);
    }
    agent::KeptProgram program() const { return {path() / "logs/kept.log", {path() / "program", "word"}}; }
    // Until it comes to an end.
    void keep() {
        agent::keep_running(program(), {"PATH=/usr/bin:/bin", "NAME=value"}, turned, stop.get_token());
    }
    int start() const {
        const auto words = program();
        return run_command({SVC_AGENT_PROGRAM, "keep-running", "--log", words.log, "--", words.arguments[0]},
                           test::long_wait)
            .status.code;
    }
    pid_t number_in(const std::string& file) const {
        const std::string text = read(file);
        return text.empty() ? 0 : static_cast<pid_t>(std::stol(text));
    }
    bool has_ended(const std::string& file) const { return ::kill(number_in(file), 0) != 0; }

    ManualClock turned;
};

}  // namespace

TEST_CASE("a kept program is started again with longer and longer pauses until it succeeds") {
    KeeperWorld world("echo try $NAME $1; echo x >> tries; [ $(wc -l < tries) = 8 ]");
    std::jthread keeper([&] { world.keep(); });
    for (const auto pause : {1s, 2s, 4s, 8s, 16s, 30s, 30s}) {
        world.turned.await_waiters(1);
        const std::string before = world.read("tries");
        world.turned.advance(pause - 1ns);
        world.turned.await_waiters(1);
        CHECK(world.read("tries") == before);
        world.turned.advance(1ns);
        CHECK(eventually([&] { return world.read("tries").size() == before.size() + 2; }));
    }
    keeper.join();
    const std::string log = world.read("logs/kept.log");
    CHECK_THAT(log, Catch::Contains("program starts\ntry value word\n"));
    CHECK_THAT(log, Catch::Contains("program failed: exit status 1: try value word; again in 30s\n"));
    CHECK_THAT(log, Catch::EndsWith("program has ended\n"));
}

TEST_CASE("a program that cannot be started any more is tried again") {
    KeeperWorld world("rm program; exit 1");
    std::jthread keeper([&] { world.keep(); });
    world.turned.await_waiters(1);
    world.turned.advance(1s);
    CHECK(eventually([&] { return world.read("logs/kept.log").find("again in 2s") != std::string::npos; }));
    world.stop.request_stop();
}

TEST_CASE("a kept program lives on alone, once, and ends with its keeper") {
    KeeperWorld world("echo $PPID > keeper; echo $$ > pid.new; mv pid.new pid; exec sleep 1000");
    REQUIRE(world.start() == 0);
    REQUIRE(eventually([&] { return world.has("pid"); }));
    const pid_t pid = world.number_in("pid");
    CHECK(world.start() == 0);
    CHECK(world.number_in("pid") == pid);
    ::kill(world.number_in("keeper"), SIGTERM);
    CHECK(eventually([&] { return world.has_ended("pid") && world.has_ended("keeper"); }));
    std::filesystem::remove(world.path() / "pid");
    REQUIRE(world.start() == 0);
    REQUIRE(eventually([&] { return world.has("pid"); }));
    CHECK(world.number_in("pid") != pid);
    ::kill(world.number_in("keeper"), SIGTERM);
    CHECK(eventually([&] { return world.has_ended("pid") && world.has_ended("keeper"); }));
}

TEST_CASE("what cannot be kept running is refused at once") {
    const auto outcome = [](std::vector<std::string> words) {
        words.insert(words.begin(), {SVC_AGENT_PROGRAM, "keep-running"});
        return run_command(words, test::long_wait);
    };
    KeeperWorld world("true");
    const std::string log = world.path() / "kept.log";
    CHECK(outcome({}).status.code == 2);
    CHECK(outcome({"--log", log, "/bin/true"}).status.code == 2);
    CHECK(outcome({"--log", log, "--", "true"}).errors ==
          "svc-agent: program 'true' is not an absolute path\n");
    CHECK(outcome({"--log", log, "--", "/no/such"}).status.code == 1);
    CHECK(outcome({"--log", "/proc/nothing/log", "--", "/bin/true"}).status.code == 1);
    CHECK(outcome({"--help"}).status.code == 0);
    CHECK_FALSE(world.has("kept.log"));
}
