#include "libsvc/runtime/lxc/container/apparmor_profile.h"
#include "libsvc/runtime/lxc/container/config.h"

#include <catch2/catch.hpp>

#include "libsvc/base/error.h"
#include "libsvc/runtime/lxc/container/core_pins.h"
#include "libsvc/runtime/lxc/network/guest_rules.h"

using namespace svc;
using namespace svc::lxc;

namespace {

constexpr const char* v1_mounts =
    "34 25 0:30 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
    "35 25 0:31 / /sys/fs/cgroup/memory rw,relatime shared:3 - cgroup cgroup rw,memory\n"
    "36 25 0:32 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"
    "37 25 0:33 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd\n";
constexpr const char* v2_mount = "38 25 0:34 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

ConfigContext context_with(CgroupLayout cgroups) {
    ConfigContext context;
    context.layout.state_dir = "/state/lxc";
    context.cgroups = std::move(cgroups);
    context.cgroup_prefix = "svc-svcbr0";
    context.bridge = "svcbr0";
    context.gateway = "192.168.100.1";
    context.agent = "/opt/my agent";
    context.agent_socket_dir = "/run/svc/instances";
    context.common_config = "/usr/share/lxc/config/common.conf";
    context.user_namespace_config = "/usr/share/lxc/config/userns.conf";
    return context;
}

ContainerSpec example_container() {
    ContainerSpec spec;
    spec.id = "abc";
    spec.name = "svc-abc";
    spec.cpus = 1.5;
    spec.memory_bytes = 1 << 20;
    spec.address = "192.168.100.7";
    return spec;
}

}  // namespace

TEST_CASE("an Android guest has more user ids, its limits, and binder devices where there is no binderfs") {
    ConfigContext context = context_with(parse_cgroup_layout(v2_mount, "cpu memory pids"));
    ContainerSpec spec = example_container();
    const std::string other = lxc_config(spec, context, 200'000, halt_signals(""));
    CHECK_THAT(other, !Catch::Contains("prlimit") && !Catch::Contains("binder"));
    spec.android = true;
    spec.boot_by_agent = true;
    const std::string devices = lxc_config(spec, context, 200'000, halt_signals(""));
    CHECK_THAT(devices,
               Catch::Contains("lxc.idmap = u 0 200000 131072\n") &&
                   Catch::Contains("lxc.idmap = g 0 200000 131072\n") &&
                   Catch::Contains("lxc.prlimit.nofile = 32768\n") &&
                   Catch::Contains("lxc.init.cmd = /var/lib/svc-agent/bin/svc-agent --boot -- /init\n") &&
                   Catch::Contains("lxc.mount.entry = /state/lxc/containers/abc/devices/hwbinder "
                                   "dev/hwbinder none bind,nosuid,noexec,create=file 0 0\n"));
    context.binder.file_system = true;
    CHECK_THAT(lxc_config(spec, context, 200'000, halt_signals("")), !Catch::Contains("binder "));
}

TEST_CASE("lxc config of a container on version 1 control groups") {
    const std::string expected =
        "lxc.include = /usr/share/lxc/config/common.conf\n"
        "lxc.include = /usr/share/lxc/config/userns.conf\n"
        "lxc.mount.auto =\n"
        "lxc.hook.mount =\n"
        "lxc.hook.post-stop =\n"
        "lxc.uts.name = svc-abc\n"
        "lxc.rootfs.path = dir:/state/lxc/containers/abc/rootfs\n"
        "lxc.idmap = u 0 100000 65536\n"
        "lxc.idmap = g 0 100000 65536\n"
        "lxc.apparmor.profile = unconfined\n"
        "lxc.seccomp.profile = /state/lxc/seccomp\n"
        "lxc.mount.auto = proc:mixed sys:mixed cgroup:mixed\n"
        "lxc.init.cmd = /sbin/init\n"
        "lxc.signal.halt = SIGRTMIN+3\n"
        "lxc.console.logfile = /state/lxc/containers/abc/console.log\n"
        "lxc.console.size = 1MB\n"
        "lxc.log.file = /state/lxc/containers/abc/lxc.log\n"
        "lxc.log.level = ERROR\n"
        "lxc.net.0.type = veth\n"
        "lxc.net.0.link = svcbr0\n"
        "lxc.net.0.flags = up\n"
        "lxc.net.0.name = eth0\n"
        "lxc.net.0.mtu = 1500\n"
        "lxc.net.0.hwaddr = 02:16:c0:a8:64:07\n"
        "lxc.net.0.veth.pair = " +
        device_name("svcbr0", {"/state/lxc"}, "abc") +
        "\n"
        "lxc.net.0.ipv4.address = 192.168.100.7/20\n"
        "lxc.net.0.ipv4.gateway = 192.168.100.1\n"
        "lxc.mount.entry = /opt/my\\040agent var/lib/svc-agent/bin/svc-agent none "
        "bind,ro,nosuid,nodev,create=file 0 0\n"
        "lxc.mount.entry = /run/svc/instances var/lib/svc-agent/host none "
        "bind,ro,nosuid,nodev,noexec,create=dir 0 0\n"
        "lxc.cgroup.dir.container = svc-svcbr0/abc\n"
        "lxc.cgroup.dir.monitor = svc-svcbr0/abc.monitor\n"
        "lxc.cgroup.cpu.cfs_period_us = 100000\n"
        "lxc.cgroup.cpu.cfs_quota_us = 150000\n"
        "lxc.cgroup.memory.limit_in_bytes = 1048576\n"
        "lxc.cgroup.pids.max = 4096\n"
        "lxc.hook.stop = /bin/cat '/sys/fs/cgroup/memory/svc-svcbr0/abc/memory.oom_control' > "
        "'/state/lxc/containers/abc/oom' 2>/dev/null; :\n";
    CHECK(lxc_config(example_container(), context_with(parse_cgroup_layout(v1_mounts, "")), 100000,
                     halt_signals("/usr/lib/systemd/systemd")) == expected);
}

TEST_CASE("lxc config refuses what does not stand on one line") {
    ContainerSpec spec = example_container();
    spec.init = "/sbin/init\nlxc.idmap = u 0 0 65536";
    CHECK_THROWS_WITH(lxc_config(spec, context_with({}), 100000, halt_signals("")),
                      "init has control characters");
    spec = example_container();
    spec.address = "10.0.0.300";
    CHECK_THROWS_WITH(lxc_config(spec, context_with({}), 100000, halt_signals("")),
                      "address '10.0.0.300' is not an IPv4 address");
}

TEST_CASE("a container that boots by the agent gives it the init to become") {
    ContainerSpec spec = example_container();
    spec.boot_by_agent = true;
    spec.init = "/lib/systemd/systemd --unit=x";
    CHECK(lxc_config(spec, context_with({}), 100000, halt_signals(""))
              .find("\nlxc.init.cmd = /var/lib/svc-agent/bin/svc-agent --boot -- /lib/systemd/systemd "
                    "--unit=x\n") != std::string::npos);
    ConfigContext without = context_with({});
    without.agent.clear();
    CHECK_THROWS_WITH(lxc_config(spec, without, 100000, halt_signals("")),
                      "container 'abc' boots by an agent, and there is none");
}

TEST_CASE("whole cores take the place of a share of time") {
    const Limits limits{2, 0, 0, {0, 3}};
    const std::string v1 = "37 25 0:33 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n";
    CHECK(limit_lines(parse_cgroup_layout(v2_mount, "cpuset cpu"), limits) ==
          "lxc.cgroup2.cpuset.cpus = 0,3\n");
    const CgroupLayout hybrid = parse_cgroup_layout(v1 + v1_mounts + v2_mount, "");
    CHECK(limit_lines(hybrid, limits) == "lxc.cgroup.cpuset.cpus = 0,3\n");
    CHECK(can_pin(hybrid));
    CHECK_FALSE(can_pin(parse_cgroup_layout(v2_mount, "cpu")));
    CHECK(parse_cores(" 0-2,5\n") == std::vector<unsigned>{0, 1, 2, 5});
    CHECK(parse_cores("0").size() == 1);
    CHECK(parse_cores("").empty());
    CHECK(parse_cores("x").empty());
    CHECK(parse_cores("0-99999999").empty());
}

TEST_CASE("the cores that the fewest containers have are chosen") {
    CorePins pins({0, 1, 4, 5});
    CHECK(pins.choose("a", 1) == std::vector<unsigned>{0});
    CHECK(pins.choose("b", 1.5) == std::vector<unsigned>{1, 4});
    CHECK(pins.choose("c", 2) == std::vector<unsigned>{0, 5});
    CHECK(pins.choose("d", 100) == std::vector<unsigned>{0, 1, 4, 5});
    pins.release("b");
    pins.release("d");
    CHECK(pins.choose("e", 0.5) == std::vector<unsigned>{1});
    CHECK(pins.choose("e", 1) == std::vector<unsigned>{1});  // its own do not count
    pins.remember("f", {1, 4});
    CHECK(pins.choose("g", 2) == std::vector<unsigned>{4, 5});
}

TEST_CASE("limits use the keys of the hierarchy that has the controller") {
    const Limits limits{0.0001, 4096, 10};
    CHECK(limit_lines(parse_cgroup_layout(v2_mount, "cpuset cpu io memory pids\n"), limits) ==
          "lxc.cgroup2.cpu.max = 1000 100000\nlxc.cgroup2.memory.max = 4096\nlxc.cgroup2.pids.max = 10\n");
    const CgroupLayout hybrid = parse_cgroup_layout(
        "35 25 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n" + std::string(v2_mount), "pids");
    // liblxc ignores limits of version 2 there.
    CHECK(limit_lines(hybrid, limits) == "lxc.cgroup.memory.limit_in_bytes = 4096\n");
    CHECK(missing_controllers(hybrid) == std::vector<std::string>{"cpu", "pids"});
    CHECK(limit_lines(hybrid, {}) == "");
}

TEST_CASE("swap is limited where the kernel counts it, beside the memory or together with it") {
    Limits limits;
    limits.memory_bytes = 4096;
    limits.swap_rate = 0.5;
    const LimitSupport support{true, "", ""};
    CHECK(limit_lines(parse_cgroup_layout(v2_mount, "memory"), limits, support) ==
          "lxc.cgroup2.memory.max = 4096\nlxc.cgroup2.memory.swap.max = 2048\n");
    const CgroupLayout v1 =
        parse_cgroup_layout("35 25 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n", "");
    CHECK(limit_lines(v1, limits, support) ==
          "lxc.cgroup.memory.limit_in_bytes = 4096\nlxc.cgroup.memory.memsw.limit_in_bytes = 6144\n");
    CHECK(limit_lines(v1, limits) == "lxc.cgroup.memory.limit_in_bytes = 4096\n");
    limits.memory_bytes = 0;
    CHECK(limit_lines(v1, limits, support) == "");
}

TEST_CASE("reads and writes are limited on the disk of the state directory") {
    Limits limits;
    limits.io = {1000, 2000, 0, 40};
    const LimitSupport support{false, "254:0", ""};
    CHECK(limit_lines(parse_cgroup_layout(v2_mount, "io"), limits, support) ==
          "lxc.cgroup2.io.max = 254:0 rbps=1000 wbps=2000 wiops=40\n");
    const CgroupLayout v1 =
        parse_cgroup_layout("35 25 0:31 / /sys/fs/cgroup/blkio rw - cgroup cgroup rw,blkio\n", "");
    CHECK(limit_lines(v1, limits, support) ==
          "lxc.cgroup.blkio.throttle.read_bps_device = 254:0 1000\n"
          "lxc.cgroup.blkio.throttle.write_bps_device = 254:0 2000\n"
          "lxc.cgroup.blkio.throttle.write_iops_device = 254:0 40\n");
    CHECK(limit_lines(v1, limits) == "");
    CHECK(limit_lines(parse_cgroup_layout(v2_mount, "memory"), limits, support) == "");
    limits.io = {};
    CHECK(limit_lines(v1, limits, support) == "");
}

TEST_CASE("the limits that this machine supports are detected, or why it does not") {
    const CgroupLayout none;
    CHECK(detect_limit_support(none, "/").io_unsupported == "the machine has no control groups for it");
    CHECK(detect_limit_support(none, "/").device.empty());
    CHECK_FALSE(detect_limit_support(none, "/").swap);
    const CgroupLayout io = parse_cgroup_layout(v2_mount, "io");
    CHECK(detect_limit_support(io, "/proc").io_unsupported ==
          "the state directory's file system is not on one disk");
}

TEST_CASE("control group layout is told from the mounts") {
    CHECK(parse_cgroup_layout(v1_mounts, "").kind() == "v1");
    CHECK(parse_cgroup_layout(std::string(v1_mounts) + v2_mount, "").kind() == "hybrid");
    CHECK(parse_cgroup_layout(v2_mount, "cpu memory pids").kind() == "v2");
    CHECK(parse_cgroup_layout("", "").kind() == "none");
    const CgroupLayout layout = parse_cgroup_layout(v1_mounts, "");
    CHECK(layout.v1.at("cpuacct") == "/sys/fs/cgroup/cpu,cpuacct");
    CHECK(layout.hierarchies.size() == 4);
    CHECK(oom_counter(layout, "a/b") == "/sys/fs/cgroup/memory/a/b/memory.oom_control");
    CHECK(oom_counter(parse_cgroup_layout(v2_mount, "memory"), "a") ==
          "/sys/fs/cgroup/unified/a/memory.events");
    CHECK(parse_oom_kills("oom_kill_disable 0\nunder_oom 0\noom_kill 3\n") == 3);
    CHECK(parse_oom_kills("low 0\nhigh 0\nmax 5\noom 5\noom_kill 2\noom_group_kill 0\n") == 2);
    CHECK(parse_oom_kills("") == 0);
}

TEST_CASE(
    "device names fit the kernel, differ by container and daemon, and begin as those of the daemon do") {
    const std::string name = device_name("svcbr0", {"/a"}, "0123456789abcdefghij");
    CHECK(name.size() == 15);
    CHECK(name != device_name("svcbr0", {"/a"}, "0123456789abcdefghik"));
    CHECK(name != device_name("svcbr0", {"/b"}, "0123456789abcdefghij"));
    CHECK(name.starts_with(device_prefix("svcbr0")));
    CHECK_FALSE(device_name("svcbr1", {"/a"}, "0123456789abcdefghij").starts_with(device_prefix("svcbr0")));
    CHECK_FALSE(std::string("svcbr0").starts_with(device_prefix("svcbr0")));
}

TEST_CASE("a stored configuration tells the device and the address of its container") {
    const auto network =
        configured_network("lxc.net.0.veth.pair = svabcd012345678\nlxc.net.0.ipv4.address = 10.1.2.3/20\n");
    CHECK_FALSE(network.has_value());  // a key begins a line, and not the first one
    const auto found = configured_network(
        "lxc.uts.name = a\nlxc.net.0.veth.pair = svabcd012345678\nlxc.net.0.ipv4.address = 10.1.2.3/20\n");
    REQUIRE(found);
    CHECK(found->device == "svabcd012345678");
    CHECK(found->address == "10.1.2.3");
    CHECK_FALSE(configured_network("").has_value());
    CHECK_FALSE(configured_network("\nlxc.net.0.veth.pair = svabcd012345678\n").has_value());
}

TEST_CASE("each kind of init is asked to shut down its own way") {
    CHECK(halt_signals("/lib/systemd/systemd").name == "SIGRTMIN+3");
    CHECK(halt_signals("/bin/busybox").name == "SIGUSR2");
    CHECK(halt_signals("/sbin/init").numbers.size() == 2);
}

TEST_CASE("a configuration for the launcher of our own has its hierarchies, and includes nothing") {
    ConfigContext context = context_with(parse_cgroup_layout(std::string(v1_mounts) + v2_mount, ""));
    CHECK(configured_launcher(lxc_config(example_container(), context, 100000, halt_signals(""))) ==
          LauncherKind::liblxc);
    context.launcher = LauncherKind::own;
    const std::string config = lxc_config(example_container(), context, 100000, halt_signals(""));
    CHECK(configured_launcher(config) == LauncherKind::own);
    CHECK_THAT(config, !Catch::Contains("lxc.include") &&
                           Catch::Contains("svc.hierarchy = v1 cpu,cpuacct /sys/fs/cgroup/cpu,cpuacct\n"
                                           "svc.hierarchy = v1 memory /sys/fs/cgroup/memory\n"
                                           "svc.hierarchy = v1 pids /sys/fs/cgroup/pids\n"
                                           "svc.hierarchy = named - /sys/fs/cgroup/systemd\n"
                                           "svc.hierarchy = v2 - /sys/fs/cgroup/unified\n"));
}

TEST_CASE("a configuration says how the launcher confines the guest by AppArmor") {
    ConfigContext context = context_with(parse_cgroup_layout(std::string(v1_mounts) + v2_mount, ""));
    const auto config = [&] { return lxc_config(example_container(), context, 100000, halt_signals("")); };
    context.launcher = LauncherKind::own;
    CHECK_THAT(config(),
               Catch::Contains("\nlxc.apparmor.profile = unconfined\n") && !Catch::Contains("svc.apparmor"));
    context.apparmor = true;
    CHECK_THAT(config(),
               Catch::Contains("\nsvc.apparmor = " + guest_profile_name(context.bridge) + " " +
                               policy_namespace_name(context.bridge, example_container().id) + "\n") &&
                   !Catch::Contains("lxc.apparmor"));
    context.launcher = LauncherKind::liblxc;
    CHECK_THAT(config(),
               Catch::Contains("\nlxc.apparmor.profile = generated\nlxc.apparmor.allow_nesting = 1\n") &&
                   !Catch::Contains("svc.apparmor"));
}

TEST_CASE("namespaces of AppArmor policies differ between containers and daemons") {
    CHECK(policy_namespace_name("a", "b-c") != policy_namespace_name("a-b", "c"));
    CHECK(policy_namespace_name("a.b", "c") != policy_namespace_name("a", "b-c"));
}

TEST_CASE("rules refuse to change everything but what is kept") {
    CHECK(refuse_changes_below("/s/", {"ab/", "c", "d*"}) ==
          "  deny /s/d*/** wklx,\n"
          "  deny /s/[^/acd]*{,/**} wklx,\n"
          "  deny /s/a[^/b]*{,/**} wklx,\n"
          "  deny /s/ab[^/]*{,/**} wklx,\n"
          "  deny /s/c[^/]*{,/**} wklx,\n");
}

TEST_CASE("the profile of guests has the name of their daemon and leads to its namespaces alone") {
    const std::string profile = guest_profile("svcbr0");
    CHECK(
        profile.starts_with("profile \"svc-guest-svcbr0\" flags=(attach_disconnected,mediate_deleted) {\n"));
    CHECK_THAT(profile, Catch::Contains("  change_profile -> \":svc-svcbr0.*:*\",\n") &&
                            Catch::Contains("  deny /sys/kernel/debug/{,**} rwklx,\n") &&
                            Catch::Contains("  deny /sys/f[^/s]*{,/**} wklx,\n") &&
                            Catch::Contains("  deny /proc/sys/kernel/hostname[^/]*{,/**} wklx,\n"));
}
