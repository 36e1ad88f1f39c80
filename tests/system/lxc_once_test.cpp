// Programs before and after the guest: boot by the agent, commands that run alone.
#include <catch2/catch.hpp>

#include <signal.h>

#include <thread>

#include "tests/support/error_code.h"
#include "tests/system/lxc_fixture.h"

using namespace svc;
using namespace svc::test;
using namespace std::chrono_literals;

namespace {

int once(Runtime& runtime, const std::string& script, Duration limit = 60s, std::stop_token stop = {}) {
    return runtime.run_once("c1", {"/bin/sh", "-c", script}, limit, std::move(stop));
}

bool runs(const std::string& command) {
    return run_command({"/bin/sh", "-c", "ps -eo args | grep -F -- '" + command + "' | grep -v grep"},
                       patience)
               .output != "";
}

}  // namespace

TEST_CASE("a command runs alone, with the container's files, address and limits") {
    LxcFixture fixture;
    fixture.add_layer("base", patient_init);
    Runtime& runtime = fixture.runtime();
    ContainerSpec spec = fixture.spec("c1");
    spec.files = {{"/etc/token", "secret", 0600}};
    runtime.create(spec);
    CHECK(once(runtime,
               "[ $$ = 1 ] && [ \"$(cat /etc/token)\" = secret ] && [ $(id -u) = 0 ] && echo ran > /ran") ==
          0);
    CHECK(once(runtime, "ip -4 addr show eth0 | grep -q 'inet " + spec.address + "/'") == 0);
    CHECK(once(runtime, "exit 42") == 42);
    CHECK(once(runtime, "echo 'two  words' \"it's\" > /words") == 0);
    CHECK(once(runtime, "[ \"$(cat /words)\" = \"two  words it's\" ]") == 0);
    CHECK(once(runtime, "dd if=/dev/zero of=/dev/null bs=400M count=1") == 137);
    // liblxc tells of a start before the program is executed.
    CHECK(message_of([&] { runtime.run_once("c1", {"/no/such"}, 60s, {}); }) ==
          (fixture.options().launcher == lxc::LauncherKind::own
               ? "/no/such cannot be run in container 'c1': cannot execute '/no/such': No such file or "
                 "directory"
               : "/no/such did not run in container 'c1': No such file or directory - Failed to exec "
                 "\"/no/such\""));
    CHECK(code_of([&] { runtime.run_once("c1", {"true"}, 60s, {}); }) == ErrorCode::invalid_argument);
    CHECK(runtime.inspect("c1")->state == ContainerState::created);
    runtime.start("c1");
    CHECK(shell_inside(runtime, "c1", "cat /ran").output == "ran\n");
    runtime.remove("c1");
    CHECK(leftovers(fixture, "c1") == "");
    CHECK(leaves_no_zombies());
    CHECK(fixture.events.empty());
}

TEST_CASE("a command that takes too long or is not wanted any more is killed with what it started") {
    LxcFixture fixture;
    fixture.add_layer("base", patient_init);
    Runtime& runtime = fixture.runtime();
    runtime.create(fixture.spec("c1"));
    const std::string forks = "trap '' TERM; setsid sleep 61234 & sleep 61234";
    CHECK(message_of([&] { once(runtime, forks, 300ms); }) == "/bin/sh -c " + forks + " timed out");
    CHECK_FALSE(runs("sleep 61234"));

    std::stop_source source;
    std::optional<ErrorCode> code;
    std::jthread caller([&] { code = code_of([&] { once(runtime, forks, 60s, source.get_token()); }); });
    REQUIRE(eventually([&] { return runs("sleep 61234"); }));
    CHECK(runtime.inspect("c1")->state == ContainerState::created);  // answers while it runs
    CHECK(code_of([&] { run_inside(runtime, "c1", {"true"}); }) == ErrorCode::conflict);
    SECTION("by its stop token") {
        source.request_stop();
    }
    SECTION("by stopping the container") {
        runtime.stop("c1", 5s);
    }
    SECTION("by removing the container") {
        runtime.remove("c1");
    }
    SECTION("by starting the container") {
        runtime.start("c1");
        CHECK(runtime.inspect("c1")->state == ContainerState::running);
    }
    caller.join();
    CHECK(code == ErrorCode::cancelled);
    CHECK_FALSE(runs("sleep 61234"));
    runtime.remove("c1");
    CHECK(leftovers(fixture, "c1") == "");
    CHECK(leaves_no_zombies());
    CHECK(fixture.events.empty());
}

TEST_CASE("a daemon killed while a command runs alone leaves nothing that lasts") {
    LxcFixture fixture;
    fixture.add_layer("base", patient_init);
    for (int moment = 0; moment < 12; ++moment) {
        fixture.close();
        SpawnOptions options;
        options.arguments = {std::filesystem::read_symlink("/proc/self/exe").native(), "--once",
                             fixture.options().state_dir, fixture.options().bridge, fixture.options().subnet};
        options.environment = launcher_environment(fixture.options());
        {
            Child daemon(options);
            daemon.wait_for(std::chrono::milliseconds(10 + moment * 15));
        }  // killed
        fixture.reopen();
        Runtime& runtime = fixture.runtime();
        INFO("killed after " << 10 + moment * 15 << " ms");
        if (const auto info = runtime.inspect("c1")) CHECK(info->state != ContainerState::running);
        CHECK_FALSE(runs("sleep 61235"));
        runtime.create(fixture.spec("c1"));
        if (moment % 3 == 0) CHECK(once(runtime, "exit 5") == 5);
        if (moment % 3 == 1) runtime.stop("c1", 5s);
        runtime.start("c1");
        CHECK(shell_inside(runtime, "c1", "echo fine").output == "fine\n");
        runtime.remove("c1");
        CHECK(leftovers(fixture, "c1") == "");
        CHECK(fixture.events.empty());
    }
}

TEST_CASE("the agent boots a container and becomes its init") {
    LxcFixture fixture;
    fixture.add_layer("base", patient_init);
    const std::filesystem::path agent = fixture.directory() / "agent";
    std::ofstream(agent)
        << "#!/bin/sh\nif [ \"$1\" != --boot ]; then exec sleep 5000; fi\n"
           "echo \"$@\" > /boot-arguments; echo $$ >> /boot-arguments\nshift 2; exec \"$@\"\n";
    ::chmod(agent.c_str(), 0755);
    ContainerSpec spec = fixture.spec("c1");
    spec.boot_by_agent = true;
    CHECK(message_of([&] { fixture.runtime().create(spec); }) ==
          "container 'c1' boots by an agent, and there is none");
    fixture.options().agent = agent;
    fixture.reopen();
    Runtime& runtime = fixture.runtime();
    runtime.create(spec);
    runtime.start("c1");
    REQUIRE(eventually([&] {
        return shell_inside(runtime, "c1", "cat /boot-arguments").output == "--boot -- /sbin/init\n1\n";
    }));
    CHECK(runtime.inspect("c1")->agent_state == "running");
    REQUIRE(eventually(
        [&] { return read_file(runtime.logs("c1").at(0).path).find("init is up") != std::string::npos; }));
    runtime.stop("c1", patience);
    CHECK(read_file(fixture.container("c1") / "console.log").find("bye") != std::string::npos);
    CHECK(runtime.run_once("c1", {"/var/lib/svc-agent/bin/svc-agent", "--boot", "--", "/bin/true"}, 60s,
                           {}) == 0);
    runtime.remove("c1");
    CHECK(leftovers(fixture, "c1") == "");
}

TEST_CASE("pinned containers get whole cores, the least used first") {
    LxcFixture fixture;
    fixture.add_layer("base", patient_init);
    const auto cores = [&](unsigned number) {
        ContainerSpec spec = fixture.spec("c" + std::to_string(number), number);
        spec.cpus = 1;
        spec.pin_cpus = true;
        fixture.runtime().create(spec);
        fixture.runtime().start(spec.id);
        return shell_inside(fixture.runtime(), spec.id, "grep Cpus_allowed_list /proc/1/status | cut -f 2")
            .output;
    };
    const std::string first = cores(2);
    CHECK(first.find_first_of(",-") == std::string::npos);
    fixture.reopen();  // remembers what runs
    if (std::thread::hardware_concurrency() > 1) CHECK(cores(3) != first);
    fixture.runtime().remove("c2");
    if (std::thread::hardware_concurrency() == 2) CHECK(cores(4) == first);
}
