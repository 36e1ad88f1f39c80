// Real containers.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <thread>

#include "libsvc/base/strings.h"
#include "tests/support/skip.h"
#include "tests/system/lxc_fixture.h"

using namespace svc;
using namespace svc::test;
using namespace std::chrono_literals;

TEST_CASE(
    "a container starts, runs unprivileged with its files, limits and address, and leaves nothing behind") {
    LxcFixture fixture;
    fixture.add_layer("base", patient_init);
    ContainerSpec spec = fixture.spec("c1");
    spec.files = {{"/var/lib/svc-agent/userdata", "some data", 0644}, {"/etc/secret", "s", 0600}};
    spec.processes = 99;
    spec.cpus = 0.5;
    LxcRuntime& runtime = fixture.runtime();
    runtime.create(spec);
    runtime.create(spec);
    REQUIRE(runtime.inspect("c1")->state == ContainerState::created);
    runtime.start("c1");
    runtime.start("c1");
    const auto info = runtime.inspect("c1");
    REQUIRE(info->state == ContainerState::running);
    REQUIRE(info->init_pid > 0);
    REQUIRE(info->started_at.has_value());

    CHECK(shell_inside(runtime, "c1", "cat /var/lib/svc-agent/userdata; stat -c %a:%u /etc/secret; hostname")
              .output == "some data600:0\nsvc-c1\n");
    CHECK(shell_inside(runtime, "c1", "ip -4 addr show eth0 | grep -o 'inet [0-9./]*'").output ==
          "inet " + spec.address + "/24\n");
    CHECK(shell_inside(runtime, "c1",
                       "ping -c 1 -W 5 $(ip route | sed -n 's/default via \\([0-9.]*\\).*/\\1/p') >/dev/null "
                       "&& echo yes")
              .output == "yes\n");
    CHECK(shell_inside(runtime, "c1", "cat /motd; echo changed > /motd; cat /motd").output ==
          "from the image\nchanged\n");
    struct stat proc {};
    REQUIRE(::stat(("/proc/" + std::to_string(info->init_pid)).c_str(), &proc) == 0);
    CHECK(proc.st_uid >= 100000);
    const std::string groups = read_file("/proc/" + std::to_string(info->init_pid) + "/cgroup");
    CHECK(groups.find("svc-" + fixture.options().bridge + "/c1") != std::string::npos);
    REQUIRE(eventually([&] { return runtime.logs("c1").size() == 1; }));
    CHECK(runtime.logs("c1")[0].name == "console.log");
    CHECK(eventually(
        [&] { return read_file(runtime.logs("c1")[0].path).find("init is up") != std::string::npos; }));

    runtime.stop("c1", patience);
    runtime.stop("c1", patience);
    CHECK(runtime.inspect("c1")->state == ContainerState::stopped);
    CHECK(read_file(fixture.container("c1") / "console.log").find("bye") != std::string::npos);
    runtime.remove("c1");
    runtime.remove("c1");
    CHECK_FALSE(runtime.inspect("c1").has_value());
    CHECK(leftovers(fixture, "c1") == "");
    CHECK(leaves_no_zombies());
    CHECK(fixture.events.empty());
}

TEST_CASE("limits are in force inside") {
    LxcFixture fixture;
    fixture.add_layer("base", patient_init);
    ContainerSpec spec = fixture.spec("c1");
    spec.memory_bytes = std::uint64_t{64} << 20;
    spec.processes = 30;
    fixture.runtime().create(spec);
    fixture.runtime().start("c1");
    const Finished hungry =
        shell_inside(fixture.runtime(), "c1", "dd if=/dev/zero of=/dev/null bs=300M count=1");
    CHECK(hungry.code == 137);
    const Finished many = shell_inside(fixture.runtime(), "c1",
                                       "for i in $(seq 60); do sleep 60 >/dev/null 2>&1 & done; echo all");
    CHECK(many.output == "");
    CHECK(fixture.runtime().inspect("c1")->state == ContainerState::running);
}

TEST_CASE("containers outlive the runtime and are adopted") {
    LxcFixture fixture;
    fixture.add_layer("base", patient_init);
    fixture.runtime().create(fixture.spec("c1", 2));
    fixture.runtime().create(fixture.spec("c2", 3));
    fixture.runtime().create(fixture.spec("c3", 4));
    fixture.runtime().start("c1");
    fixture.runtime().start("c2");
    const ContainerInfo before = *fixture.runtime().inspect("c1");
    const pid_t doomed = fixture.runtime().inspect("c2")->init_pid;

    SECTION("as they are, with what ended meanwhile corrected") {
        std::filesystem::create_directories(fixture.container("halfmade") / "upper");
        fixture.reopen();
        ::kill(doomed, SIGKILL);
        REQUIRE(
            eventually([&] { return fixture.runtime().inspect("c2")->state == ContainerState::stopped; }));
        const ContainerInfo after = *fixture.runtime().inspect("c1");
        CHECK(after.state == ContainerState::running);
        CHECK(after.init_pid == before.init_pid);
        CHECK(after.started_at == before.started_at);
        CHECK(fixture.runtime().inspect("c3")->state == ContainerState::created);
        CHECK_FALSE(std::filesystem::exists(fixture.container("halfmade")));
        CHECK(shell_inside(fixture.runtime(), "c1", "echo alive").output == "alive\n");
        CHECK_THROWS_WITH(fixture.runtime().layers().remove("base"), "layer 'base' is in use by a container");
    }
    SECTION("even when the daemon died before it noted the start") {
        std::filesystem::remove(fixture.container("c1") / "run.json");
        fixture.reopen();
        CHECK(fixture.runtime().inspect("c1")->init_pid == before.init_pid);
        fixture.runtime().stop("c1", 5s);
        CHECK_FALSE(is_alive({before.init_pid, 0}));
    }
}

TEST_CASE("ports are forwarded on the node while the container runs") {
    LxcFixture fixture;
    fixture.add_layer("base", patient_init);
    ContainerSpec spec = fixture.spec("c1");
    PortForward forward;
    forward.port = 8000;
    forward.node_port = 10950;
    forward.count = 2;
    forward.tcp = true;
    spec.forwards = {forward};
    Runtime& runtime = fixture.runtime();
    runtime.create(spec);
    runtime.start("c1");
    auto server = [&] {
        ExecSpec exec;
        exec.command = {"nc", "-l", "-p", "8001", "-e", "echo", "served"};
        return runtime.exec("c1", exec);
    }();
    const std::string address = runtime.capacity().address;
    const auto fetch = [&] {
        return run_command({"/bin/busybox", "nc", "-w", "20", address, "10951"}, patience).output;
    };
    CHECK(eventually([&] { return fetch() == "served\n"; }));
    server.reset();  // before its runtime
    fixture.reopen();
    const std::string rules = run_command({"/usr/sbin/nft", "list", "ruleset"}, patience).output;
    CHECK(rules.find("10951 : " + spec.address + " . 8001") != std::string::npos);
    fixture.runtime().stop("c1", 0s);
    CHECK(run_command({"/usr/sbin/nft", "list", "ruleset"}, patience).output.find(spec.address) ==
          std::string::npos);
}

TEST_CASE("the agent is started after init and again when it dies") {
    LxcFixture fixture;
    fixture.add_layer("base", patient_init);
    std::filesystem::create_directories(fixture.directory() / "private");
    ::chmod((fixture.directory() / "private").c_str(), 0700);
    const std::filesystem::path agent = fixture.directory() / "private/agent";
    std::ofstream(agent) << "#!/bin/sh\necho agent reporting as $USER\nexec sleep 5000\n";
    ::chmod(agent.c_str(), 0755);
    std::filesystem::create_directories(fixture.directory() / "host");
    fixture.options().agent = agent;
    fixture.options().agent_socket_dir = fixture.directory() / "host";
    fixture.reopen();
    Runtime& runtime = fixture.runtime();
    runtime.create(fixture.spec("c1"));
    runtime.start("c1");
    CHECK(runtime.inspect("c1")->agent_state == "running");
    const auto agents = [&] {
        return shell_inside(runtime, "c1", "ps | grep '[s]leep 5000' | wc -l").output;
    };
    CHECK(eventually([&] { return agents() == "1\n"; }));
    std::ofstream(fixture.directory() / "host/server.unix") << "x";
    CHECK(
        shell_inside(runtime, "c1",
                     "cat /var/lib/svc-agent/host/server.unix; echo y > /var/lib/svc-agent/host/z || echo no")
            .output == "xno\n");
    const auto pid = [&] {
        return shell_inside(runtime, "c1", "ps | awk '/[s]leep 5000/{print $1}'").output;
    };
    const std::string killed = pid();
    shell_inside(runtime, "c1", "kill " + killed);
    CHECK(eventually([&] {
        return runtime.inspect("c1")->agent_state == "running" && pid() != killed && agents() == "1\n";
    }));
    const auto console = [&] { return read_file(fixture.container("c1") / "console.log"); };
    CHECK(eventually([&] { return console().find("agent reporting as root") != std::string::npos; }));
    fixture.reopen();
    CHECK(fixture.runtime().inspect("c1")->agent_state == "running");
    CHECK(shell_inside(fixture.runtime(), "c1", "ps | grep '[s]leep 5000' | wc -l").output == "1\n");
    fixture.runtime().remove("c1");
    CHECK(leaves_no_zombies());
}

TEST_CASE("the disk limit holds where the file system has project quotas") {
    const CommandResult made =
        run_command({"/bin/sh", "-ec",
                     "d=$(mktemp -d /var/tmp/svc-quota-XXXXXX); chmod 711 $d; truncate -s 256M $d/image; "
                     "mkfs.ext4 -q -O project,quota $d/image; mkdir -m 711 $d/mnt; mount -o loop,prjquota "
                     "$d/image $d/mnt || { rm -r $d; exit 1; }; echo $d"},
                    60s);
    if (made.status.code != 0)
        skip("no loop-mounted ext4 with project quotas here: " + std::string(trim(made.errors)));
    const std::filesystem::path directory(std::string(trim(made.output)));
    {
        LxcFixture fixture;
        fixture.runtime().tear_down();
        fixture.options().state_dir = directory / "mnt/lxc";
        fixture.reopen();
        CHECK(fixture.runtime().capacity().disk_limit_enforced);
        fixture.add_layer("base", patient_init);
        ContainerSpec spec = fixture.spec("c1");
        spec.disk_bytes = std::uint64_t{20} << 20;
        fixture.runtime().create(spec);
        fixture.runtime().start("c1");
        const Finished full =
            shell_inside(fixture.runtime(), "c1",
                         "dd if=/dev/zero of=/big bs=1M count=40; code=$?; stat -c %s /big; exit $code");
        CHECK(full.code != 0);
        CHECK(std::stoull(full.output) <= std::uint64_t{20} << 20);
        fixture.runtime().remove("c1");
        CHECK(leftovers(fixture, "c1") == "");
    }
    run_shell("umount " + (directory / "mnt").native() + "; rm -r " + directory.native());
}

TEST_CASE("two daemons with their own state and bridge do not disturb each other") {
    LxcFixture one;
    LxcFixture two;
    one.add_layer("base", patient_init);
    two.add_layer("base", patient_init);
    one.runtime().create(one.spec("same"));
    two.runtime().create(two.spec("same"));
    one.runtime().start("same");
    two.runtime().start("same");
    one.runtime().remove("same");
    CHECK(two.runtime().inspect("same")->state == ContainerState::running);
    CHECK(shell_inside(two.runtime(), "same", "echo fine").output == "fine\n");
    LxcOptions clashing = one.options();
    clashing.bridge += "x";
    clashing.state_dir = one.directory() / "other";
    SystemClock clock;
    CHECK_THROWS_WITH(LxcRuntime(clashing, clock), Catch::Contains("overlaps"));
}

TEST_CASE("many starts at once") {
    LxcFixture fixture;
    fixture.add_layer("base", patient_init);
    constexpr unsigned count = 12;
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < count; ++i)
        threads.emplace_back([&fixture, i] {
            const std::string id = "c" + std::to_string(i);
            fixture.runtime().create(fixture.spec(id, 2 + i));
            fixture.runtime().start(id);
        });
    threads.clear();
    unsigned running = 0;
    for (const ContainerInfo& info : fixture.runtime().list())
        if (info.state == ContainerState::running) ++running;
    CHECK(running == count);
}

namespace {

// All numbers below 1024, and some above.
std::vector<FileDescriptor> occupy_low_descriptors() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_max < 2048) test::skip("may open fewer than 2048 files");
    limit.rlim_cur = std::max<rlim_t>(limit.rlim_cur, 2048);
    ::setrlimit(RLIMIT_NOFILE, &limit);
    std::vector<FileDescriptor> all;
    while (all.empty() || all.back().get() < 1100) all.push_back(open_file("/dev/null", O_RDONLY));
    return all;
}

}  // namespace

TEST_CASE("containers start and end in a process that has more than 1024 files open") {
    const std::vector<FileDescriptor> others = occupy_low_descriptors();
    LxcFixture fixture;
    fixture.add_layer("base", patient_init);
    LxcRuntime& runtime = fixture.runtime();
    runtime.create(fixture.spec("c1"));
    runtime.start("c1");
    CHECK(shell_inside(runtime, "c1", "echo fine").output == "fine\n");
    runtime.stop("c1", 0s);
    runtime.remove("c1");
    CHECK(leftovers(fixture, "c1") == "");
}

TEST_CASE("the machine has terminals for as many containers as a bridge has ports") {
    const LxcFixture fixture;
    const auto setting = [](const std::string& name) {
        return std::stoul(read_file("/proc/sys/kernel/pty/" + name));
    };
    CHECK(setting("max") - setting("reserve") >= 5 * 1023);
}
