#include <catch2/catch.hpp>

#include <filesystem>

#include "libsvc/base/file.h"
#include "libsvc/runtime/lxc/usage/cgroup_usage.h"
#include "libsvc/runtime/lxc/usage/disk_usage.h"
#include "libsvc/runtime/lxc/usage/link_usage.h"
#include "libsvc/runtime/simulated/simulated_usage.h"
#include "tests/support/manual_clock.h"

using namespace svc;
using namespace svc::lxc;

namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20U;

// A tree of control group files in a folder of its own.
struct UsageTree {
    TemporaryDirectory directory{std::filesystem::temp_directory_path(), "svc-usage-"};

    void write(const std::string& name, const std::string& text) const {
        const auto path = directory.path() / name;
        std::filesystem::create_directories(path.parent_path());
        write_file_atomically(path, text);
    }
    std::string mount(const std::string& folder, const std::string& type, const std::string& options) const {
        return "31 23 0:28 / " + (directory.path() / folder).string() + " rw - " + type + " " + type +
               " rw," + options + "\n";
    }
    ContainerUsage read(const std::string& mounts, const std::string& v2_controllers) const {
        ContainerUsage usage;
        read_group_usage(parse_cgroup_layout(mounts, v2_controllers), "svc/one", usage);
        return usage;
    }
    void write_v1_cpu() const {
        write("cpuacct/svc/one/cpuacct.usage_user", "2500000000\n");
        write("cpuacct/svc/one/cpuacct.usage_sys", "500000000\n");
    }
    void write_v1_memory() const {
        write("memory/svc/one/memory.usage_in_bytes", "1048576\n");
        write("memory/svc/one/memory.max_usage_in_bytes", "2097152\n");
        write("memory/svc/one/memory.limit_in_bytes", "4194304\n");
        write("memory/svc/one/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
    }
    void write_v2() const {
        write("unified/svc/one/cpu.stat", "usage_usec 3000000\nuser_usec 2500000\nsystem_usec 500000\n");
        write("unified/svc/one/memory.current", "1048576\n");
        write("unified/svc/one/memory.peak", "2097152\n");
        write("unified/svc/one/memory.max", "4194304\n");
        write("unified/svc/one/memory.events", "low 0\nhigh 0\nmax 7\noom 4\noom_kill 3\noom_group_kill 0\n");
        write("unified/svc/one/pids.current", "12\n");
        write("unified/svc/one/pids.max", "max\n");
    }
};

void check_cpu_and_memory(const ContainerUsage& usage) {
    CHECK(usage.cpu_user_seconds == 2.5);
    CHECK(usage.cpu_system_seconds == 0.5);
    CHECK(usage.memory_bytes == mib);
    CHECK(usage.memory_peak_bytes == 2 * mib);
    CHECK(usage.memory_limit_bytes == 4 * mib);
    CHECK(usage.oom_kills == 3U);
}

}  // namespace

TEST_CASE("usage of a version 1 group") {
    const UsageTree tree;
    tree.write_v1_cpu();
    tree.write_v1_memory();
    tree.write("pids/svc/one/pids.current", "12\n");
    tree.write("pids/svc/one/pids.max", "4096\n");
    const ContainerUsage usage =
        tree.read(tree.mount("cpuacct", "cgroup", "cpuacct") + tree.mount("memory", "cgroup", "memory") +
                      tree.mount("pids", "cgroup", "pids"),
                  "");
    check_cpu_and_memory(usage);
    CHECK(usage.processes == 12U);
    CHECK(usage.process_limit == 4096U);
}

TEST_CASE("usage of a version 2 group") {
    const UsageTree tree;
    tree.write_v2();
    const ContainerUsage usage =
        tree.read(tree.mount("unified", "cgroup2", "nsdelegate"), "cpu memory pids\n");
    check_cpu_and_memory(usage);
    CHECK(usage.processes == 12U);
    CHECK_FALSE(usage.process_limit);
}

TEST_CASE("usage of a hybrid group comes from where each controller is") {
    const UsageTree tree;
    tree.write_v1_memory();
    tree.write_v2();
    tree.write("unified/svc/one/memory.current", "99\n");
    const ContainerUsage usage = tree.read(
        tree.mount("memory", "cgroup", "memory") + tree.mount("unified", "cgroup2", "nsdelegate"), "pids\n");
    check_cpu_and_memory(usage);
    CHECK(usage.processes == 12U);
}

TEST_CASE("version 1 groups without a limit have none") {
    const UsageTree tree;
    tree.write("memory/svc/one/memory.limit_in_bytes", "9223372036854771712\n");
    CHECK_FALSE(tree.read(tree.mount("memory", "cgroup", "memory"), "").memory_limit_bytes);
}

TEST_CASE("what a group does not tell is absent") {
    const UsageTree tree;
    tree.write("memory/svc/one/memory.usage_in_bytes", "many\n");
    for (const std::string& mounts :
         {tree.mount("memory", "cgroup", "memory"), tree.mount("unified", "cgroup2", "rw"), std::string()}) {
        const ContainerUsage usage = tree.read(mounts, "memory pids");
        CHECK_FALSE(usage.cpu_user_seconds);
        CHECK_FALSE(usage.memory_bytes);
        CHECK_FALSE(usage.memory_limit_bytes);
        CHECK_FALSE(usage.oom_kills);
        CHECK_FALSE(usage.processes);
    }
}

TEST_CASE("traffic of devices is read from the table of the kernel") {
    const auto devices = parse_devices(
        "Inter-|   Receive                                                |  Transmit\n"
        " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo "
        "colls\n"
        "    lo:  100       2    0    0    0     0          0         0      100       2    0    0    0     "
        "0   0   0\n"
        "svabc:18446744073709551615 5 1 2 0 0 0 0 4000 7 3 4 0 0 0 0\n"
        "broken: 1 2 3\n");
    REQUIRE(devices.size() == 2);
    const NetworkUsage inside = other_end(devices.at("svabc"), "eth0");
    CHECK(inside.device == "eth0");
    CHECK(inside.sent.bytes == 18446744073709551615U);
    CHECK(inside.sent.packets == 5);
    CHECK(inside.received.bytes == 4000);
    CHECK(inside.received.packets == 7);
    CHECK(inside.received.errors == 3);
    CHECK(inside.received.dropped == 4);
}

TEST_CASE("disk use counts files once and follows no link") {
    const UsageTree tree;
    tree.write("upper/a/one", std::string(100'000, 'x'));
    tree.write("other/large", std::string(10 * mib, 'x'));
    std::filesystem::create_hard_link(tree.directory.path() / "upper/a/one",
                                      tree.directory.path() / "upper/two");
    std::filesystem::create_symlink(tree.directory.path() / "other", tree.directory.path() / "upper/link");
    const auto bytes = measure_tree(tree.directory.path() / "upper", 100);
    REQUIRE(bytes);
    CHECK(*bytes >= 100'000);
    CHECK(*bytes < mib);
    CHECK_FALSE(measure_tree(tree.directory.path() / "upper", 3));
    CHECK_FALSE(measure_tree(tree.directory.path() / "none", 100));
    CHECK_FALSE(measure_tree(tree.directory.path() / "upper/link", 100));
}

TEST_CASE("disk use is measured seldom") {
    const UsageTree tree;
    test::ManualClock clock;
    DiskUsage usage(clock);
    tree.write("upper/one", std::string(100'000, 'x'));
    const auto round = [&] {
        usage.begin_round();
        return usage.bytes("id", tree.directory.path() / "upper").value_or(0);
    };
    const std::uint64_t first = round();
    tree.write("upper/two", std::string(100'000, 'x'));
    CHECK(round() == first);
    clock.advance(std::chrono::minutes(1));
    CHECK(round() > first);
}

TEST_CASE("a round of measuring has a budget") {
    const UsageTree tree;
    test::ManualClock clock;
    DiskUsage usage(clock);
    tree.write("upper/one", "x");
    usage.begin_round();
    clock.advance(std::chrono::milliseconds(100));
    CHECK_FALSE(usage.bytes("id", tree.directory.path() / "upper"));
    usage.begin_round();
    CHECK(usage.bytes("id", tree.directory.path() / "upper"));
}

TEST_CASE("measuring goes on where the budget ended") {
    const UsageTree tree;
    test::ManualClock clock;
    DiskUsage usage(clock);
    const auto first = tree.directory.path() / "first", second = tree.directory.path() / "second";
    tree.write("first/one", "x");
    tree.write("second/one", "x");
    usage.begin_round();
    const auto small = usage.bytes("first", first);
    clock.advance(std::chrono::milliseconds(100));
    CHECK_FALSE(usage.bytes("second", second));
    clock.advance(std::chrono::minutes(1));
    tree.write("first/two", std::string(100'000, 'x'));
    usage.begin_round();
    CHECK(usage.bytes("first", first) == small);
    CHECK(usage.bytes("second", second));
    usage.begin_round();
    CHECK(usage.bytes("first", first) > small);
}

TEST_CASE("a simulated guest stays within its limits and its counters grow") {
    const SimulatedLimits limits{2, 32 * mib, 8 * mib, 10};
    const ContainerUsage usage = simulated_usage("x", limits, std::chrono::seconds(100));
    CHECK(*usage.memory_bytes <= 32 * mib);
    CHECK(usage.memory_limit_bytes == 32 * mib);
    CHECK(*usage.disk_bytes <= 8 * mib);
    CHECK(*usage.processes <= 10);
    CHECK(*usage.cpu_user_seconds == Approx(8));
    CHECK(usage.network.at(0).received.packets == 100);
    CHECK_FALSE(simulated_usage("x", {}, Duration(0)).memory_limit_bytes);
}
