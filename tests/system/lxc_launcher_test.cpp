// Both launchers: what a guest sees of itself is the same, and a container goes on when the other is chosen.
#include <catch2/catch.hpp>

#include <algorithm>

#include "libsvc/base/strings.h"
#include "tests/system/lxc_fixture.h"

using namespace svc;
using namespace svc::test;
using namespace std::chrono_literals;

namespace {

// What init tells of itself. Left out of a mount: its numbers, which follow from the order of mounting, and
// those of the daemon's descriptors; of a key: its number and how many processes use it.
const char* const telling_init = R"(#!/bin/sh
exec 3>/report.new
{
sed -e 's/^[0-9]* [0-9]* [0-9:]* //' -e 's/ shared:[0-9]*/ shared/' -e 's|self/fd/[0-9]*|self/fd|g' -e 's/^/mount /' /proc/1/mountinfo
grep -E '^(Umask|Uid|Gid|Groups|NSpid|NSpgid|NSsid|Sig(Blk|Ign)|Cap|NoNew|Secc|Specul|Threads)' /proc/1/status
for f in limits cgroup uid_map gid_map setgroups oom_score_adj coredump_filter timerslack_ns; do sed "s|^|$f |" /proc/1/$f; done
tr '\0' '\n' </proc/1/environ | sed 's/^/variable /'
stat -c 'file %A %u %g %t:%T %N' /dev/* /dev/pts/* /proc/1/fd/* /sys/fs/cgroup/*
for f in proc proc/sys proc/sys/kernel proc/sys/net proc/sysrq-trigger sys sys/kernel sys/devices/virtual/net dev root tmp; do
  for t in r w x; do [ -$t /$f ] && echo "may $t /$f"; done; done
for f in /proc/sys/kernel/hostname /proc/sys/vm/swappiness /proc/sys/net/ipv4/ip_forward /proc/sysrq-trigger /sys/kernel/profiling; do
  (echo 1 >$f) 2>&1 | sed "s|^|write |"; done
awk '{$1 = $3 = $4 = ""; print "key", $0}' /proc/keys
hostname
stty -F /dev/console -a
ip address show eth0 | sed 's/^[0-9]*: //; s/@if[0-9]*//; s/qlen.*//; s/link-netnsid.*//; s/valid_lft.*//' | grep -v inet6
ip route
sed -n 's/^.* lo$/version 6: lo/p' /proc/net/if_inet6
} >&3 2>&1
mv /report.new /report
trap 'exit 0' TERM
while :; do sleep 1000 & wait $!; done
)";

const char* const telling_command =
    "grep -E '^(Umask|Uid|Gid|Groups|Sig(Blk|Ign)|Cap|NoNew|Secc)' /proc/self/status | sed 's/^/command /'; "
    "sed 's/^/command /' /proc/self/limits /proc/self/cgroup; echo command keyrings $(grep -c _ses "
    "/proc/keys); "
    "env; pwd; stat -c 'command %N' /proc/self/fd/* | sed 's/pipe:.*/pipe/'";

// Where they differ, as docs/launcher.md has it.
const std::vector<std::pair<std::string, std::string>> known_differences = {
    {"mount /sys /proc/sys ro,relatime", "mount /sys /proc/sys ro,nosuid,nodev,noexec,relatime"},
    {"/proc/sysrq-trigger ro,relatime", "/proc/sysrq-trigger ro,nosuid,nodev,noexec,relatime"},
    {"mount / /dev/.lxc/proc rw,relatime shared - proc proc rw\n", ""},  // with AppArmor
    {"mount / /dev/.lxc/sys rw,relatime shared - sysfs sys rw\n", ""},
    {"mount /.lxc-boot-id /proc", "mount /.boot-id//deleted /proc"},
    {" brd 0.0.0.255 ", " brd BROADCAST "},
    {"command 0::/.lxc", "command 0::/"},
    {"command keyrings 1", "command keyrings 2"},
};

std::string with_differences(std::string text, const std::string& broadcast) {
    for (const auto& [theirs, ours] : known_differences) {
        const std::size_t at = text.find(theirs);
        if (at == std::string::npos) continue;  // a machine without keys, or without version 2
        text.replace(at, theirs.size(), ours == " brd BROADCAST " ? " brd " + broadcast + " " : ours);
    }
    return text;
}

std::string sorted_lines(const std::string& text) {
    std::vector<std::string> lines = split(text, '\n');
    std::sort(lines.begin(), lines.end());
    return join(lines, "\n");
}

// A container that is started by either launcher, one after the other.
class EitherLauncher : public LxcFixture {
  public:
    void choose(lxc::LauncherKind launcher) {
        close();
        options().launcher = launcher;
        reopen();
    }

    // What is told of a start by this launcher, inside and outside.
    std::string told_by(lxc::LauncherKind launcher) {
        choose(launcher);
        runtime().start("c1");
        const std::filesystem::path report = container("c1") / "upper" / "report";
        REQUIRE(eventually([&] { return std::filesystem::exists(report); }));
        const pid_t init = runtime().inspect("c1")->init_pid;
        const std::string shared = shared_namespaces(init);
        unsigned long root = 0;
        std::ifstream("/proc/" + std::to_string(init) + "/uid_map") >> root >> root;
        const std::string told = read_file(report) + "shared namespaces:" + shared + "\n" + groups() +
                                 shell_inside(runtime(), "c1", telling_command).output;
        shell_inside(runtime(), "c1", "rm /report");
        runtime().stop("c1", 5s);
        return sorted_lines(without_ids(told, root));
    }

  private:
    // Of the host, which differ between starts: root and the group of terminals.
    static std::string without_ids(std::string text, unsigned long root) {
        for (const auto& [id, name] : {std::pair{root, "ROOT"}, std::pair{root + 5, "TERMINALS"}}) {
            const std::string number = std::to_string(id);
            for (std::size_t at = 0; (at = text.find(number)) != std::string::npos;)
                text.replace(at, number.size(), name);
        }
        return text;
    }
    static std::string shared_namespaces(pid_t init) {
        std::string shared;
        for (const auto& entry : std::filesystem::directory_iterator("/proc/self/ns")) {
            const std::string name = entry.path().filename();
            const std::string theirs = "/proc/" + std::to_string(init) + "/ns/" + name;
            if (std::filesystem::read_symlink(theirs) == std::filesystem::read_symlink(entry))
                shared += " " + name;
        }
        return shared;
    }

    // Owners, modes and limits of the container's control groups.
    std::string groups() {
        const std::string script =
            "cd /sys/fs/cgroup; for f in ./$0/c1 ./*/$0/c1; do [ -d $f ] || continue; "
            "stat -c 'group %n %u %g %a' $f $f/cgroup.procs $f/tasks 2>/dev/null; "
            "for l in memory.limit_in_bytes pids.max cpu.cfs_quota_us cpuset.cpus cgroup.max.depth "
            "cgroup.max.descendants; do [ -e $f/$l ] && echo limit $f/$l $(cat $f/$l); done; done; true";
        return run_command({"/bin/sh", "-c", script, "svc-" + options().bridge}, patience).output;
    }
};

}  // namespace

TEST_CASE("a guest sees the same whichever launcher has started it") {
    EitherLauncher fixture;
    fixture.add_layer("base", telling_init);
    ContainerSpec spec = fixture.spec("c1");
    spec.cpus = 0.5;
    spec.processes = 100;
    fixture.runtime().create(spec);
    const std::string theirs = fixture.told_by(lxc::LauncherKind::liblxc);
    const std::string ours = fixture.told_by(lxc::LauncherKind::own);
    const std::string broadcast = spec.address.substr(0, spec.address.rfind('.')) + ".255";
    CHECK(ours == sorted_lines(with_differences(theirs, broadcast)));
}

TEST_CASE("a container goes on when the other launcher is chosen") {
    EitherLauncher fixture;
    fixture.add_layer("base", patient_init);
    fixture.runtime().create(fixture.spec("c1"));
    for (const auto& [first, next] : {std::pair{lxc::LauncherKind::liblxc, lxc::LauncherKind::own},
                                      std::pair{lxc::LauncherKind::own, lxc::LauncherKind::liblxc}}) {
        fixture.choose(first);
        fixture.runtime().start("c1");
        const pid_t init = fixture.runtime().inspect("c1")->init_pid;
        fixture.choose(next);
        REQUIRE(fixture.runtime().inspect("c1")->state == ContainerState::running);
        CHECK(fixture.runtime().inspect("c1")->init_pid == init);
        CHECK(shell_inside(fixture.runtime(), "c1", "echo it goes on").output == "it goes on\n");
        // Without its record the monitor is asked.
        fixture.close();
        std::filesystem::remove(fixture.container("c1") / "run.json");
        fixture.reopen();
        CHECK(fixture.runtime().inspect("c1")->init_pid == init);
        fixture.runtime().stop("c1", 5s);
        CHECK(fixture.runtime().inspect("c1")->state == ContainerState::stopped);
    }
}

TEST_CASE("a monitor that was killed leaves an init file that nobody follows") {
    EitherLauncher fixture;
    fixture.add_layer("base", patient_init);
    fixture.runtime().create(fixture.spec("c1"));
    fixture.choose(lxc::LauncherKind::own);
    fixture.runtime().start("c1");
    const std::string stale = read_file(fixture.container("c1") / "init");
    fixture.runtime().stop("c1", 0s);
    fixture.close();
    std::ofstream(fixture.container("c1") / "init") << stale;
    std::filesystem::remove(fixture.container("c1") / "run.json");
    fixture.reopen();
    CHECK(fixture.runtime().inspect("c1")->state != ContainerState::running);
    fixture.runtime().start("c1");
    CHECK(read_file(fixture.container("c1") / "init") != stale);
    CHECK(shell_inside(fixture.runtime(), "c1", "cat /motd").output == "from the image\n");
}

TEST_CASE("a container that cannot be isolated is not started, and tells why") {
    EitherLauncher fixture;
    fixture.add_layer("base", patient_init);
    fixture.runtime().create(fixture.spec("c1"));
    fixture.choose(lxc::LauncherKind::own);
    const std::filesystem::path profile = fixture.options().state_dir / "seccomp";
    const auto refused = [&] {
        try {
            fixture.runtime().start("c1");
        } catch (const Error& e) {
            return std::string(e.what());
        }
        return std::string("it was started");
    };
    std::ofstream(profile) << "2\ndenylist\n[all]\nno_such_call errno 1\n";
    CHECK_THAT(refused(), Catch::Contains("unknown system call 'no_such_call'"));
    std::ofstream(profile) << "2\nallowlist\n[all]\nread\n";
    CHECK_THAT(refused(), Catch::Contains("is no list of refused system calls"));
    std::filesystem::remove(profile);
    CHECK_THAT(refused(), Catch::Contains("seccomp"));
    fixture.reopen();  // writes it anew
    fixture.runtime().start("c1");
    CHECK(shell_inside(fixture.runtime(), "c1", "grep Seccomp: /proc/self/status").output == "Seccomp:\t2\n");
    fixture.runtime().remove("c1");
    CHECK(leftovers(fixture, "c1") == "");
}
