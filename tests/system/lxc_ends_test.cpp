// Guests, monitors and daemons that end, by themselves or not.
#include <signal.h>
#include <sys/socket.h>

#include <catch2/catch.hpp>

#include "tests/system/lxc_fixture.h"

using namespace svc;
using namespace svc::test;
using namespace std::chrono_literals;

TEST_CASE("the end of a guest is told with its reason") {
    LxcFixture fixture;
    fixture.add_layer("failing", "#!/bin/sh\nmkfifo /go; read x </go; exit 7\n");
    fixture.add_layer("power", "#!/bin/sh\nmkfifo /go; read x </go; poweroff -f\n");
    Runtime& runtime = fixture.runtime();
    const auto ending_of = [&](const std::string& layer) {
        runtime.create(fixture.spec(layer, 2, layer));
        runtime.start(layer);
        // Opening succeeds only once init waits.
        shell_inside(runtime, layer, "until [ -p /go ]; do usleep 1000; done; echo x > /go");
        const RuntimeEvent event = fixture.events.wait();
        CHECK(event.id == layer);
        CHECK(eventually([&] { return runtime.inspect(layer)->state == ContainerState::stopped; }));
        runtime.remove(layer);
        return event;
    };
    CHECK(ending_of("failing").reason == "init exited with status 7");
    const RuntimeEvent power = ending_of("power");
    CHECK(power.clean);
    CHECK(power.reason == "the guest shut down");

    fixture.add_layer("base", patient_init);
    runtime.create(fixture.spec("killed"));
    runtime.start("killed");
    ::kill(runtime.inspect("killed")->init_pid, SIGKILL);
    const RuntimeEvent killed = fixture.events.wait();
    CHECK(eventually([&] { return runtime.inspect("killed")->state == ContainerState::stopped; }));
    CHECK_FALSE(killed.clean);
    CHECK(killed.reason == "init was killed by signal 9 (SIGKILL)");
    CHECK(leaves_no_zombies());
    runtime.start("killed");
    CHECK(runtime.inspect("killed")->state == ContainerState::running);
}

TEST_CASE("an init that runs out of memory is told apart") {
    LxcFixture fixture;
    fixture.add_layer(
        "base", "#!/bin/sh\nmkfifo /go; read x </go; exec dd if=/dev/zero of=/dev/null bs=200M count=10\n");
    ContainerSpec spec = fixture.spec("c1");
    spec.memory_bytes = std::uint64_t{32} << 20;
    fixture.runtime().create(spec);
    fixture.runtime().start("c1");
    shell_inside(fixture.runtime(), "c1", "until [ -p /go ]; do usleep 1000; done; echo x > /go");
    CHECK(fixture.events.wait().reason == "init was killed by signal 9 (SIGKILL) (out of memory)");
}

TEST_CASE("images that cannot start say why and leave nothing running") {
    LxcFixture fixture;
    Runtime& runtime = fixture.runtime();
    fixture.add_layer("none", "");
    fixture.add_layer("hasty", "#!/bin/sh\nexit 3\n");
    fixture.add_layer("broken", "#!/no/such/shell\n");
    runtime.create(fixture.spec("c1", 2, "none"));
    CHECK_THROWS_WITH(runtime.start("c1"), "image has no init: '/sbin/init' not found");
    runtime.create(fixture.spec("c2", 3, "hasty"));
    std::string ending;  // a machine that is busy may see it run first
    try {
        runtime.start("c2");
        ending = fixture.events.wait().reason;
        CHECK(eventually([&] { return runtime.inspect("c2")->state == ContainerState::stopped; }));
    } catch (const Error& e) {
        ending = e.what();
        CHECK(runtime.inspect("c2")->state == ContainerState::created);
    }
    CHECK_THAT(ending, Catch::Contains("init exited with status 3"));
    runtime.create(fixture.spec("c3", 4, "broken"));
    CHECK_THROWS_WITH(runtime.start("c3"), Catch::Contains("No such file or directory"));
    CHECK_THROWS_WITH(runtime.create(fixture.spec("c4", 5, "absent")), "layer 'absent' not found");
    CHECK_THROWS_WITH(runtime.start("c4"), "container 'c4' not found");
    for (const char* id : {"c1", "c3"}) CHECK(runtime.inspect(id)->state == ContainerState::created);
    for (const char* id : {"c1", "c2", "c3"}) runtime.remove(id);
    for (const char* id : {"c1", "c2", "c3"}) CHECK(leftovers(fixture, id) == "");
    CHECK(leaves_no_zombies());
    CHECK(fixture.events.empty());
}

TEST_CASE("a guest that restarts itself stays the same container") {
    LxcFixture fixture;
    fixture.add_layer(
        "base",
        "#!/bin/sh\ntrap 'reboot -f' USR1; echo boot >> /boots; while :; do sleep 1000 & wait $!; done\n");
    Runtime& runtime = fixture.runtime();
    runtime.create(fixture.spec("c1"));
    runtime.start("c1");
    const pid_t first = runtime.inspect("c1")->init_pid;
    REQUIRE(eventually([&] { return shell_inside(runtime, "c1", "cat /boots").output == "boot\n"; }));
    ::kill(first, SIGUSR1);
    REQUIRE(eventually(
        [&] { return runtime.inspect("c1")->init_pid != first && runtime.inspect("c1")->init_pid != 0; }));
    CHECK(runtime.inspect("c1")->state == ContainerState::running);
    CHECK(eventually([&] { return shell_inside(runtime, "c1", "cat /boots").output == "boot\nboot\n"; }));
    runtime.remove("c1");
    CHECK(leftovers(fixture, "c1") == "");
    CHECK(fixture.events.empty());
}

TEST_CASE("a killed monitor takes its container along and leaves nothing") {
    LxcFixture fixture;
    fixture.add_layer("base", patient_init);
    Runtime& runtime = fixture.runtime();
    runtime.create(fixture.spec("c1"));
    runtime.start("c1");
    const std::string stat = read_file("/proc/" + std::to_string(runtime.inspect("c1")->init_pid) + "/stat");
    const pid_t monitor = std::stoi(stat.substr(stat.rfind(')') + 4));
    ::kill(monitor, SIGKILL);
    CHECK(fixture.events.wait().reason == "the monitor of the container was killed");
    runtime.remove("c1");
    CHECK(leftovers(fixture, "c1") == "");
    CHECK(leaves_no_zombies());
}

TEST_CASE("a helper whose daemon was killed before it began does nothing") {
    LxcFixture fixture;
    fixture.add_layer("base", patient_init);
    fixture.runtime().create(fixture.spec("c1"));
    fixture.runtime().start("c1");
    fixture.runtime().stop("c1", 0s);
    const std::filesystem::path containers = fixture.options().state_dir / "containers";
    for (const char* verb : {"start", "query"}) {
        const std::filesystem::path mark = "/run/lxc/lock" / containers.relative_path() / ".c1";
        std::filesystem::remove(mark);
        int pair[2];
        REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
        ::close(pair[0]);
        const FileDescriptor theirs(pair[1]);
        SpawnOptions options;
        options.arguments = {fixture.helper(), verb, containers, "c1"};
        if (std::string(verb) == "start") {
            options.arguments.push_back(fixture.container("c1") / "exit");
            options.arguments.push_back("plain");
        }
        options.environment = {"PATH=/usr/sbin:/sbin"};
        options.descriptors = {{theirs.get(), 3}};
        Child helper(options);
        const auto status = helper.wait_for(patience);
        REQUIRE(status);
        CHECK(status->code == 1);
        CHECK_FALSE(std::filesystem::exists(mark));  // of liblxc, which nobody would remove
    }
    fixture.reopen();
    CHECK(fixture.runtime().inspect("c1")->state == ContainerState::stopped);
}

TEST_CASE("a daemon killed at any moment leaves what the next one can continue or remove") {
    LxcFixture fixture;
    fixture.add_layer("base", patient_init);
    const std::filesystem::path agent = fixture.directory() / "agent";
    std::ofstream(agent) << "#!/bin/sh\nexec sleep 5000\n";
    ::chmod(agent.c_str(), 0755);
    fixture.options().agent = agent;
    for (int moment = 0; moment < 30; ++moment) {
        fixture.close();
        SpawnOptions options;
        options.arguments = {std::filesystem::read_symlink("/proc/self/exe").native(),
                             "--churn",
                             fixture.options().state_dir,
                             fixture.options().bridge,
                             fixture.options().subnet,
                             agent};
        options.environment = launcher_environment(fixture.options());
        {
            Child daemon(options);
            daemon.wait_for(std::chrono::milliseconds(15 + moment * 7));
        }  // killed
        fixture.reopen();
        Runtime& runtime = fixture.runtime();
        auto info = runtime.inspect("churned");
        INFO("killed after " << 15 + moment * 7 << " ms");
        if (std::filesystem::remove(ending_mark(agent)) && info && info->state == ContainerState::running) {
            runtime.stop("churned", 1s);  // the daemon had begun to: it may end at any time
            info = runtime.inspect("churned");
        }
        if (info && info->state == ContainerState::running) {
            CHECK(eventually([&] { return runtime.inspect("churned")->agent_state == "running"; }));
            CHECK(eventually([&] {
                return shell_inside(runtime, "churned", "ps | grep '[s]leep 5000' | wc -l").output == "1\n";
            }));
        }
        if (moment % 2 == 0) {
            runtime.create(fixture.spec("churned"));
            runtime.start("churned");
            CHECK(shell_inside(runtime, "churned", "echo fine").output == "fine\n");
        }
        runtime.remove("churned");
        CHECK(leftovers(fixture, "churned") == "");
    }
}
