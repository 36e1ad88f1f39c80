#include "libsvc/runtime/lxc/launcher/plan.h"

#include <linux/mount.h>
#include <sys/resource.h>

#include <catch2/catch.hpp>

using namespace svc::lxc;

namespace {

const std::string least =
    "svc.launcher = own\n"
    "lxc.uts.name = svc-abc\n"
    "lxc.rootfs.path = dir:/state/rootfs\n"
    "lxc.idmap = u 0 200000 65536\n"
    "lxc.idmap = g 0 200000 65536\n"
    "lxc.apparmor.profile = unconfined\n"
    "lxc.seccomp.profile = /state/seccomp\n"
    "lxc.init.cmd = /sbin/init\n"
    "lxc.cgroup.dir.container = svc-svcbr0/abc\n";

Plan plan_with(const std::string& lines) {
    return parse_plan(least + lines);
}

}  // namespace

TEST_CASE("a plan has what the configuration says") {
    const Plan plan = plan_with(
        "lxc.pty.max = 1024\nlxc.tty.max = 4\n"
        "lxc.mount.auto = proc:mixed sys:mixed cgroup:mixed\n"
        "lxc.console.logfile = /state/console.log\nlxc.console.size = 1MB\n"
        "lxc.log.file = /state/lxc.log\nlxc.log.level = ERROR\n"
        "lxc.cgroup.dir.monitor = svc-svcbr0/abc.monitor\n"
        "lxc.environment = NAME=a = b\n"
        "lxc.hook.stop = /bin/cat 'a' > 'b' 2>/dev/null; :\n"
        "lxc.prlimit.nofile = 32768\nlxc.prlimit.nice = 40\n");
    CHECK(plan.host_name == "svc-abc");
    CHECK(plan.root == "/state/rootfs");
    CHECK(plan.first_id == 200000);
    CHECK(plan.id_count == 65536);
    CHECK(plan.init == std::vector<std::string>{"/sbin/init"});
    CHECK(plan.group == "svc-svcbr0/abc");
    CHECK(plan.monitor_group == "svc-svcbr0/abc.monitor");
    CHECK(plan.terminals == 4);
    CHECK(plan.most_terminals == 1024);
    CHECK(plan.console_size == 1 << 20);
    CHECK(plan.environment == std::vector<std::string>{"NAME=a = b"});
    CHECK(plan.stop_command == "/bin/cat 'a' > 'b' 2>/dev/null; :");
    REQUIRE(plan.resource_limits.size() == 2);
    CHECK(plan.resource_limits[0].resource == RLIMIT_NOFILE);
    CHECK(plan.resource_limits[1].value == 40);
    CHECK(!plan.network);
}

TEST_CASE("a plan has the device of the network") {
    const Plan plan = plan_with(
        "lxc.net.0.type = veth\nlxc.net.0.link = svcbr0\nlxc.net.0.flags = up\nlxc.net.0.name = eth0\n"
        "lxc.net.0.mtu = 1400\nlxc.net.0.hwaddr = 02:16:0a:01:02:03\nlxc.net.0.veth.pair = sv0\n"
        "lxc.net.0.ipv4.address = 10.1.2.3/20\nlxc.net.0.ipv4.gateway = 10.1.0.1\n");
    REQUIRE(plan.network);
    CHECK(plan.network->bridge == "svcbr0");
    CHECK(plan.network->address == "10.1.2.3");
    CHECK(plan.network->prefix == 20);
    CHECK(plan.network->mtu == 1400);
}

TEST_CASE("a plan has mounts with their flags, and names with blanks") {
    const Plan plan = plan_with(
        "lxc.mount.entry = /my\\040files sys/x none bind,ro,nosuid,nodev,noexec,create=dir 0 0\n"
        "lxc.mount.entry = /dev/null dev/x none bind,optional,create=file 0 0\n");
    REQUIRE(plan.mounts.size() == 2);
    CHECK(plan.mounts[0].source == "/my files");
    CHECK(plan.mounts[0].target == "sys/x");
    CHECK(plan.mounts[0].flags ==
          (MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC));
    CHECK(plan.mounts[0].create == BindMount::Create::folder);
    CHECK(!plan.mounts[0].optional);
    CHECK(plan.mounts[1].optional);
    CHECK(plan.mounts[1].create == BindMount::Create::file);
}

TEST_CASE("a plan has limits with their controllers, and hierarchies") {
    const Plan plan = plan_with(
        "svc.hierarchy = v1 cpu,cpuacct /sys/fs/cgroup/cpu,cpuacct\n"
        "svc.hierarchy = named - /sys/fs/cgroup/systemd\nsvc.hierarchy = v2 - /sys/fs/cgroup/unified\n"
        "lxc.cgroup.memory.limit_in_bytes = 1048576\nlxc.cgroup2.io.max = 8:0 rbps=1 wbps=2\n");
    REQUIRE(plan.hierarchies.size() == 3);
    CHECK(!plan.has_only_version_2());
    CHECK(plan_with("svc.hierarchy = v2 - /sys/fs/cgroup\n").has_only_version_2());
    CHECK(!plan_with("svc.hierarchy = v1 cpu /sys/fs/cgroup/cpu\n").has_only_version_2());
    CHECK(plan.hierarchies[0].has("cpu"));
    CHECK(plan.hierarchies[0].has("cpuacct"));
    CHECK(!plan.hierarchies[0].has("cpuset"));
    CHECK(plan.hierarchies[1].kind == Hierarchy::Kind::named);
    CHECK(plan.hierarchies[2].kind == Hierarchy::Kind::version_2);
    CHECK(plan.hierarchies[2].mount == "/sys/fs/cgroup/unified");
    REQUIRE(plan.limits.size() == 2);
    CHECK(plan.limits[0].controller == "memory");
    CHECK(plan.limits[0].file == "memory.limit_in_bytes");
    CHECK(!plan.limits[0].version_2);
    CHECK(plan.limits[1].file == "io.max");
    CHECK(plan.limits[1].value == "8:0 rbps=1 wbps=2");
    CHECK(plan.limits[1].version_2);
}

TEST_CASE("a plan says how AppArmor confines the guest, and not two things") {
    std::string config = least;
    const std::string unconfined = "lxc.apparmor.profile = unconfined\n";
    config.replace(config.find(unconfined), unconfined.size(),
                   "svc.apparmor = svc-guest-svcbr0 svc-svcbr0.abc\n");
    const Plan plan = parse_plan(config);
    REQUIRE(plan.confinement);
    CHECK(plan.confinement->profile == "svc-guest-svcbr0");
    CHECK(plan.confinement->policy_namespace == "svc-svcbr0.abc");
    CHECK(!plan_with("").confinement);
    CHECK_THROWS_WITH(parse_plan(config + unconfined), Catch::Contains("AppArmor"));
}

TEST_CASE("a plan refuses every line that it does not know") {
    for (const std::string line : {"lxc.cap.drop = sys_admin",
                                   "lxc.include = /usr/share/lxc/config/common.conf",
                                   "nonsense",
                                   "svc.launcher = other",
                                   "lxc.apparmor.profile = generated",
                                   "lxc.apparmor.allow_nesting = 1",
                                   "svc.apparmor = svc-guest-svcbr0",
                                   "svc.apparmor = svc-guest-svcbr0 ../policy",
                                   "lxc.mount.auto = proc:rw",
                                   "lxc.rootfs.path = overlay:/a:/b",
                                   "lxc.idmap = u 1 200000 65536",
                                   "lxc.idmap = x 0 200000 65536",
                                   "lxc.idmap = g 0 300000 65536",
                                   "lxc.mount.entry = /a b none bind,exotic 0 0",
                                   "lxc.mount.entry = tmpfs tmp tmpfs rw 0 0",
                                   "lxc.net.0.type = macvlan",
                                   "lxc.net.1.type = veth",
                                   "lxc.net.0.ipv4.address = 10.1.2.3",
                                   "lxc.tty.max = four",
                                   "lxc.console.size = large",
                                   "svc.hierarchy = v3 - /sys",
                                   "svc.hierarchy = v1 cpu",
                                   "lxc.cgroup.dir = x",
                                   "lxc.cgroup.memory/../x.y = 1",
                                   "lxc.cgroup2. = 1"}) {
        INFO(line);
        CHECK_THROWS_AS(plan_with(line + "\n"), LaunchFailure);
    }
    CHECK_THROWS_WITH(plan_with("lxc.cap.drop = sys_admin\n"), Catch::Contains("lxc.cap.drop = sys_admin"));
}

TEST_CASE("a plan is refused without what isolates its guest") {
    for (const std::string key : {"lxc.rootfs.path", "lxc.idmap = u", "lxc.idmap = g", "lxc.seccomp.profile",
                                  "lxc.apparmor.profile", "lxc.init.cmd", "lxc.cgroup.dir.container"}) {
        INFO(key);
        std::string config = least;
        const std::size_t at = config.find(key);
        REQUIRE(at != std::string::npos);
        config.erase(at, config.find('\n', at) + 1 - at);
        CHECK_THROWS_AS(parse_plan(config), LaunchFailure);
    }
}
