// Guests that are asked to end. What one of them writes on the way is there afterwards, however late it
// comes.
#include <catch2/catch.hpp>

#include "tests/system/lxc_fixture.h"

using namespace svc;
using namespace svc::test;
using namespace std::chrono_literals;

namespace {

constexpr Duration long_grace = 30s;

// `path` inside is `file`, and /sbin/init leads to it.
void add_layer_with_init(LxcFixture& fixture, const std::string& path, const std::string& file) {
    const std::filesystem::path package = fixture.make_package("");
    const std::string rootfs = (fixture.directory() / "package/rootfs").native();
    run_shell("cd " + rootfs + "; mkdir -p etc $(dirname ." + path + "); [ -e ." + path + " ] || cp " + file +
              " ." + path + "; ln -sf " + path + " sbin/init; tar -C .. --owner=0 --group=0 -czf " +
              package.native() + " rootfs");
    fixture.runtime().layers().add("base", package, {});
}

struct StoppedGuest {
    LxcFixture fixture;
    std::filesystem::path written(const std::string& name) const {
        return fixture.container("c1") / "upper" / name;
    }
    std::string reason() const {
        return lxc::describe_exit(std::stoi(read_file(fixture.container("c1") / "exit")), 0).reason;
    }
    void run() {
        fixture.runtime().create(fixture.spec("c1"));
        fixture.runtime().start("c1");
        REQUIRE(eventually([&] { return std::filesystem::exists(written("ready")); }));
        fixture.runtime().stop("c1", long_grace);
        CHECK(fixture.runtime().inspect("c1")->state == ContainerState::stopped);
        CHECK(leaves_no_zombies());
    }
};

// busybox's init with these lines as its inittab; the first action makes /ready.
struct BusyboxGuest : StoppedGuest {
    explicit BusyboxGuest(const std::string& inittab) {
        const std::filesystem::path etc = fixture.directory() / "package/rootfs/etc";
        std::filesystem::create_directories(etc);
        std::ofstream(etc / "inittab") << inittab;
        add_layer_with_init(fixture, "/bin/busybox", "");
        run();
    }
};

struct LoneGuest : StoppedGuest {
    explicit LoneGuest(const std::string& path) {
        add_layer_with_init(fixture, path, ::getenv("SVC_LONE_INIT"));
        run();
    }
};

const std::string killed = "init was killed by signal 9 (SIGKILL)";

}  // namespace

TEST_CASE("busybox's init is ended when it only sleeps and no other process is left") {
    const BusyboxGuest guest(
        "::sysinit:/bin/touch /ready\n"
        "::respawn:/bin/sleep 1000\n");
    CHECK(guest.reason() == killed);
}

TEST_CASE("busybox's init is not ended while it runs its shutdown actions") {
    const BusyboxGuest guest(
        "::sysinit:/bin/touch /ready\n"
        "::shutdown:/bin/sh -c 'usleep 700000; echo first > /first'\n"
        "::shutdown:/bin/sh -c 'usleep 300000; echo second > /second'\n");
    CHECK(read_file(guest.written("first")) == "first\n");
    CHECK(read_file(guest.written("second")) == "second\n");
}

TEST_CASE("what a shutdown action leaves in the background of a guest gets its second") {
    const BusyboxGuest guest(
        "::sysinit:/bin/touch /ready\n"
        "::shutdown:/bin/sh -c '(trap \"\" TERM; usleep 500000; echo late > /late) &'\n");
    CHECK(read_file(guest.written("late")) == "late\n");
}

TEST_CASE("a program of a busybox guest may take its time for SIGTERM") {
    const BusyboxGuest guest(
        "::once:/bin/sh -c 'trap \"usleep 500000; echo saved > /saved; exit\" TERM; touch /ready; "
        "while :; do usleep 10000; done'\n");
    CHECK(read_file(guest.written("saved")) == "saved\n");
    CHECK(guest.reason() == killed);
}

TEST_CASE("a program of a busybox guest that ignores SIGTERM works on for a second") {
    const BusyboxGuest guest(
        "::once:/bin/sh -c 'trap \"echo asked >> /ticks\" TERM; touch /ready; "
        "while :; do usleep 100000; echo tick >> /ticks; done'\n");
    const std::string ticks = read_file(guest.written("ticks"));
    const std::size_t asked = ticks.find("asked\n");
    REQUIRE(asked != std::string::npos);
    CHECK(ticks.substr(asked).starts_with("asked\ntick\ntick\ntick\n"));
}

TEST_CASE("an init that sleeps alone before it writes what it knows is waited for") {
    const LoneGuest guest(GENERATE(as<std::string>(), "/opt/busybox", "/lib/systemd/systemd"));
    CHECK(read_file(guest.written("saved")) == "saved\n");
    CHECK(guest.reason() == "init exited with status 5");
}
