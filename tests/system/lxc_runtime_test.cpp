// Real containers. Skipped where there is no root.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <iostream>
#include <thread>

#include "libsvc/base/strings.h"
#include "tests/system/lxc_fixture.h"

using namespace svc;
using namespace svc::test;
using namespace std::chrono_literals;

namespace {

// There from before the doomed daemon stops its container until that is removed.
std::filesystem::path ending_mark(const std::filesystem::path& agent) {
    return agent.native() + ".ending";
}

}  // namespace

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
    CHECK(read_file(runtime.logs("c1")[0].path).find("init is up") != std::string::npos);

    runtime.stop("c1", 10s);
    runtime.stop("c1", 10s);
    CHECK(runtime.inspect("c1")->state == ContainerState::stopped);
    CHECK(read_file(fixture.container("c1") / "console.log").find("bye") != std::string::npos);
    runtime.remove("c1");
    runtime.remove("c1");
    CHECK_FALSE(runtime.inspect("c1").has_value());
    CHECK(leftovers(fixture, "c1") == "");
    CHECK(children_of(::getpid(), 'Z') == "");
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

TEST_CASE("exec passes input, output, environment and exact exit codes") {
    LxcFixture fixture;
    fixture.add_layer("base", patient_init);
    fixture.runtime().create(fixture.spec("c1"));
    Runtime& runtime = fixture.runtime();
    REQUIRE_THROWS_WITH(run_inside(runtime, "c1", {"true"}), "container 'c1' is not running");
    runtime.start("c1");

    CHECK(run_inside(runtime, "c1", {"cat"}, "through").output == "through");
    const Finished both =
        shell_inside(runtime, "c1", "echo out; echo err >/dev/stderr; pwd; echo $HOME $USER $LANG; exit 3");
    CHECK(both.output == "out\n/root\n/root root C.UTF-8\n");
    CHECK(both.errors == "err\n");
    CHECK(both.code == 3);
    CHECK_FALSE(both.exec_failed);
    CHECK(run_inside(runtime, "c1", {"printf", "<%s>", "", "b"}).output == "<><b>");
    CHECK(shell_inside(runtime, "c1", "kill -9 $$").code == 137);

    const Finished missing = run_inside(runtime, "c1", {"no-such-command"});
    CHECK(missing.code == 127);
    CHECK(missing.exec_failed);
    const Finished plain = run_inside(runtime, "c1", {"/motd"});
    CHECK(plain.code == 126);
    CHECK(plain.exec_failed);
    const Finished own = shell_inside(runtime, "c1", "exit 127");
    CHECK(own.code == 127);
    CHECK_FALSE(own.exec_failed);

    ExecSpec spec;
    spec.command = {"env"};
    spec.environment = {{"LD_PRELOAD", "/x.so"}, {"PATH", "/bin"}};
    const auto process = runtime.exec("c1", spec);
    const std::string environment = finish(*process).output;
    CHECK(environment.find("LD_PRELOAD=/x.so\n") != std::string::npos);
    CHECK(environment.find("PATH=/bin\n") != std::string::npos);
}

TEST_CASE("exec with a terminal has its size, its own name inside, and ends with hang-up") {
    LxcFixture fixture;
    fixture.add_layer("base", patient_init);
    fixture.runtime().create(fixture.spec("c1"));
    fixture.runtime().start("c1");
    ExecSpec spec;
    spec.command = {"sh", "-c", "tty; stty size; read line; stty size; echo got $line"};
    spec.terminal = true;
    spec.width = 100;
    spec.height = 30;
    const auto process = fixture.runtime().exec("c1", spec);
    CHECK(process->errors() == -1);
    process->resize(120, 40);
    write_all(process->input(), "hello\n");
    const Finished finished = finish(*process);
    CHECK(finished.output.find("/dev/pts/") != std::string::npos);
    CHECK(finished.output.find("40 120") != std::string::npos);
    CHECK(finished.output.find("got hello") != std::string::npos);
    CHECK(finished.code == 0);
}

TEST_CASE("a command ends with its owner, with a signal, and with its container") {
    LxcFixture fixture;
    fixture.add_layer("base", patient_init);
    fixture.runtime().create(fixture.spec("c1"));
    Runtime& runtime = fixture.runtime();
    runtime.start("c1");
    ExecSpec spec;
    spec.command = {"sleep", "1000"};
    {
        const auto dropped = runtime.exec("c1", spec);
        const auto signalled = runtime.exec("c1", spec);
        signalled->kill(SIGTERM);
        CHECK(finish(*signalled).code == 143);
    }
    CHECK(shell_inside(runtime, "c1", "ps | grep -c '[s]leep 1000'").output == "1\n");  // init's own
    auto caught = runtime.exec("c1", spec);
    runtime.stop("c1", 0s);
    CHECK(finish(*caught).code == 129);
    caught.reset();
    CHECK(children_of(::getpid(), 'Z') == "");
}

TEST_CASE("large output is complete before the exit code") {
    LxcFixture fixture;
    fixture.add_layer("base", patient_init);
    fixture.runtime().create(fixture.spec("c1"));
    fixture.runtime().start("c1");
    const Finished finished =
        shell_inside(fixture.runtime(), "c1", "dd if=/dev/zero bs=1M count=64 2>/dev/null; exit 5");
    CHECK(finished.output.size() == std::size_t{64} << 20);
    CHECK(finished.code == 5);
}

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
    CHECK_FALSE(killed.clean);
    CHECK(killed.reason == "init was killed by signal 9 (SIGKILL)");
    CHECK(children_of(::getpid(), 'Z') == "");
    runtime.start("killed");
    CHECK(runtime.inspect("killed")->state == ContainerState::running);
}

TEST_CASE("an init that runs out of memory is told apart") {
    LxcFixture fixture;
    fixture.add_layer("base", "#!/bin/sh\nsleep 0.3; exec dd if=/dev/zero of=/dev/null bs=200M count=10\n");
    ContainerSpec spec = fixture.spec("c1");
    spec.memory_bytes = std::uint64_t{32} << 20;
    fixture.runtime().create(spec);
    fixture.runtime().start("c1");
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
    CHECK_THROWS_WITH(runtime.start("c2"), "container 'c2' cannot be started: init exited with status 3");
    runtime.create(fixture.spec("c3", 4, "broken"));
    CHECK_THROWS_WITH(runtime.start("c3"), Catch::Contains("No such file or directory"));
    CHECK_THROWS_WITH(runtime.create(fixture.spec("c4", 5, "absent")), "layer 'absent' not found");
    CHECK_THROWS_WITH(runtime.start("c4"), "container 'c4' not found");
    for (const char* id : {"c1", "c2", "c3"}) {
        CHECK(runtime.inspect(id)->state == ContainerState::created);
        runtime.remove(id);
    }
    for (const char* id : {"c1", "c2", "c3"}) CHECK(leftovers(fixture, id) == "");
    CHECK(children_of(::getpid(), 'Z') == "");
    CHECK(fixture.events.empty());
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
    const auto server = [&] {
        ExecSpec exec;
        exec.command = {"nc", "-l", "-p", "8001", "-e", "echo", "served"};
        return runtime.exec("c1", exec);
    }();
    const std::string address = runtime.capacity().address;
    const auto fetch = [&] {
        return run_command({"/bin/busybox", "nc", "-w", "2", address, "10951"}, 10s).output;
    };
    CHECK(eventually([&] { return fetch() == "served\n"; }));
    fixture.reopen();
    const std::string rules = run_command({"/usr/sbin/nft", "list", "ruleset"}, 10s).output;
    CHECK(rules.find("10951 : " + spec.address + " . 8001") != std::string::npos);
    fixture.runtime().stop("c1", 0s);
    CHECK(run_command({"/usr/sbin/nft", "list", "ruleset"}, 10s).output.find(spec.address) ==
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
    shell_inside(runtime, "c1", "kill $(ps | awk '/[s]leep 5000/{print $1}')");
    CHECK(eventually([&] { return runtime.inspect("c1")->agent_state == "restarting"; }));
    CHECK(eventually([&] { return runtime.inspect("c1")->agent_state == "running" && agents() == "1\n"; }));
    const auto console = [&] { return read_file(fixture.container("c1") / "console.log"); };
    CHECK(eventually([&] { return console().find("agent reporting as root") != std::string::npos; }));
    fixture.reopen();
    CHECK(fixture.runtime().inspect("c1")->agent_state == "running");
    CHECK(shell_inside(fixture.runtime(), "c1", "ps | grep '[s]leep 5000' | wc -l").output == "1\n");
    fixture.runtime().remove("c1");
    CHECK(children_of(::getpid(), 'Z') == "");
}

TEST_CASE("a guest that restarts itself stays the same container") {
    LxcFixture fixture;
    fixture.add_layer(
        "base",
        "#!/bin/sh\necho boot >> /boots; trap 'reboot -f' USR1; while :; do sleep 1000 & wait $!; done\n");
    Runtime& runtime = fixture.runtime();
    runtime.create(fixture.spec("c1"));
    runtime.start("c1");
    const pid_t first = runtime.inspect("c1")->init_pid;
    REQUIRE(eventually([&] { return shell_inside(runtime, "c1", "cat /boots").output == "boot\n"; }));
    ::kill(first, SIGUSR1);
    REQUIRE(eventually(
        [&] { return runtime.inspect("c1")->init_pid != first && runtime.inspect("c1")->init_pid != 0; }));
    CHECK(runtime.inspect("c1")->state == ContainerState::running);
    CHECK(shell_inside(runtime, "c1", "cat /boots").output == "boot\nboot\n");
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
    CHECK(children_of(::getpid(), 'Z') == "");
}

TEST_CASE("the disk limit holds where the file system has project quotas") {
    const CommandResult made =
        run_command({"/bin/sh", "-ec",
                     "d=$(mktemp -d /var/tmp/svc-quota-XXXXXX); chmod 711 $d; truncate -s 256M $d/image; "
                     "mkfs.ext4 -q -O project,quota $d/image; mkdir -m 711 $d/mnt; mount -o loop,prjquota "
                     "$d/image $d/mnt || { rm -r $d; exit 1; }; echo $d"},
                    60s);
    if (made.status.code != 0) {
        WARN("skipped: no loop-mounted ext4 with project quotas here: " << made.errors);
        return;
    }
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
        options.environment = {"SVC_LXC_HELPER=" + fixture.options().helper.native()};
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
            CHECK(shell_inside(runtime, "churned", "ps | grep '[s]leep 5000' | wc -l").output == "1\n");
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

// What the daemons that get killed do.
std::unique_ptr<LxcRuntime> doomed_runtime(char** arguments, const Clock& clock, LxcOptions& options) {
    options.state_dir = arguments[2];
    options.bridge = arguments[3];
    options.subnet = arguments[4];
    options.helper = ::getenv("SVC_LXC_HELPER");
    return std::make_unique<LxcRuntime>(options, clock);
}

int churn(char** arguments) {
    SystemClock clock;
    LxcOptions options;
    options.agent = arguments[5];
    const auto runtime = doomed_runtime(arguments, clock, options);
    for (;;) {
        runtime->create(LxcFixture::spec_in(options, "churned"));
        runtime->start("churned");
        std::ofstream(ending_mark(arguments[5])) << "stop";
        runtime->stop("churned", 1s);
        runtime->remove("churned");
        std::filesystem::remove(ending_mark(arguments[5]));
    }
}

int run_alone(char** arguments) {
    SystemClock clock;
    LxcOptions options;
    const auto runtime = doomed_runtime(arguments, clock, options);
    runtime->create(LxcFixture::spec_in(options, "c1"));
    return runtime->run_once("c1", {"/bin/sleep", "61235"}, 60s, {});
}

int capture(char** arguments) {
    SystemClock clock;
    LxcOptions options;
    doomed_runtime(arguments, clock, options)->layers().capture("version", "c1", {"/tmp/7"});
    return 0;
}

int export_again_and_again(char** arguments) {
    SystemClock clock;
    LxcOptions options;
    const auto runtime = doomed_runtime(arguments, clock, options);
    for (;;) {
        const auto stream = runtime->layers().export_archive({{"base", "version"}, ""});
        while (!stream->read(10'000).empty()) {
        }
    }
}

int main(int count, char** arguments) {
    const std::string_view task = count > 1 ? arguments[1] : "";
    if (count == 6 && task == "--churn") return churn(arguments);
    if (count == 5 && task == "--once") return run_alone(arguments);
    if (count == 5 && task == "--capture") return capture(arguments);
    if (count == 5 && task == "--export") return export_again_and_again(arguments);
    if (::geteuid() != 0 || ::access("/usr/sbin/nft", X_OK) != 0 || ::getenv("SVC_LXC_HELPER") == nullptr) {
        std::cerr << "skipped: needs root, nftables and SVC_LXC_HELPER\n";
        return 77;
    }
    return Catch::Session().run(count, arguments);
}
