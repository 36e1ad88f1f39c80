// Commands inside of containers.
#include <signal.h>

#include <catch2/catch.hpp>

#include "tests/system/lxc_fixture.h"

using namespace svc;
using namespace svc::test;
using namespace std::chrono_literals;

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
    CHECK(eventually([&] {  // init's own is left
        return shell_inside(runtime, "c1", "ps | grep -c '[s]leep 1000'").output == "1\n";
    }));
    auto caught = runtime.exec("c1", spec);
    runtime.stop("c1", 0s);
    CHECK(finish(*caught).code == 129);
    caught.reset();
    CHECK(leaves_no_zombies());
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
