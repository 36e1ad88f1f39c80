// Guests on a machine with AppArmor: all their processes are confined, by either launcher, and nothing starts
// without. Skipped where the kernel has it off; system-kernel-machine runs it on a kernel that has it on.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <set>

#include "libsvc/base/strings.h"
#include "libsvc/runtime/lxc/container/apparmor_profile.h"
#include "tests/support/skip.h"
#include "tests/system/lxc_fixture.h"

using namespace svc;
using namespace svc::test;
using namespace std::chrono_literals;

namespace {

class ConfinedGuest : public LxcFixture {
  public:
    ConfinedGuest() {
        if (::access(lxc::policy_namespaces, R_OK) != 0) skip("needs AppArmor");
        close();
        options().agent = ::getenv("SVC_AGENT");
        make_directories(directory() / "host", 0755);
        options().agent_socket_dir = directory() / "host";
        reopen();
        add_layer("base", patient_init);
        runtime().create(spec("c1"));
    }
    bool own() { return options().launcher == lxc::LauncherKind::own; }
    pid_t init() { return runtime().inspect("c1")->init_pid; }
    std::string run(const std::string& script) { return shell_inside(runtime(), "c1", script).output; }

    // Of every process in the container's namespace of pids, as the host sees it, with the programs.
    std::map<std::string, std::set<std::string>> programs_by_label() {
        std::map<std::string, std::set<std::string>> programs;
        const auto theirs = std::filesystem::read_symlink("/proc/" + std::to_string(init()) + "/ns/pid");
        for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
            std::error_code gone;
            if (std::filesystem::read_symlink(entry.path() / "ns/pid", gone) != theirs || gone) continue;
            std::string label, program;
            std::getline(std::ifstream(entry.path() / "attr/apparmor/current"), label);
            std::getline(std::ifstream(entry.path() / "comm"), program);
            programs[label].insert(program);
        }
        return programs;
    }
    // Of this daemon's containers.
    std::string namespaces() {
        return run_command({"/bin/sh", "-c", "ls \"$0\" | grep -F \"$1\"", lxc::policy_namespaces,
                            own() ? "svc-" + options().bridge : "lxc-c1_"},
                           patience)
            .output;
    }
    void unload() {
        const std::string name = lxc::guest_profile_name(options().bridge);
        const FileDescriptor file = open_file("/sys/kernel/security/apparmor/.remove", O_WRONLY);
        REQUIRE(::write(file.get(), name.data(), name.size()) == static_cast<ssize_t>(name.size()));
    }
};

const std::string tmpfs_on = "mount -t tmpfs none ";

}  // namespace

TEST_CASE("init, agent and commands have one label of AppArmor, with a namespace of the container's own") {
    ConfinedGuest guest;
    guest.runtime().start("c1");
    guest.run("sleep 61237 >/dev/null 2>&1 </dev/null &");
    std::map<std::string, std::set<std::string>> programs;
    REQUIRE(eventually([&] {
        programs = guest.programs_by_label();
        return programs.size() == 1 && programs.begin()->second.contains("svc-agent");
    }));
    const auto& [label, all] = *programs.begin();
    INFO(label);
    CHECK(all == std::set<std::string>{"init", "sleep", "svc-agent"});
    const std::string ours = lxc::guest_profile_name(guest.options().bridge) +
                             "//&:" + lxc::policy_namespace_name(guest.options().bridge, "c1") +
                             ":unconfined";
    CHECK(label.starts_with(guest.own() ? ours : "lxc-c1_<"));
    CHECK(label.find("//&:") != std::string::npos);
    CHECK(split(trim(guest.namespaces()), '\n').size() == 1);
}

TEST_CASE("a guest that mounts what it likes still changes nothing that AppArmor forbids") {
    ConfinedGuest guest;
    guest.runtime().start("c1");
    for (const std::string folder : {"/sys/kernel", "/sys/fs", "/sys/devices/virtual", "/sys/class",
                                     "/proc/sys/fs", "/proc/sys/kernel", "/proc/bus", "/proc/acpi"}) {
        INFO(folder);
        CHECK(guest.run(tmpfs_on + folder + " 2>&1 && { echo 1 >" + folder + "/x; } 2>&1")
                  .ends_with("Permission denied\n"));
        guest.run("umount " + folder);
    }
    for (const std::string path :
         {"/mnt/x", "/proc/sys/kernel/hostname", "/proc/sys/kernel/shmx", "/proc/sys/net/x",
          "/sys/fs/cgroup/x", "/sys/class/net/x", "/sys/kernel/security/apparmor/x"}) {
        INFO(path);
        const std::string top = "/" + split(path, '/')[1];
        const std::string folder = path.substr(0, path.rfind('/'));
        CHECK(guest.run("mkdir -p /mnt; " + tmpfs_on + top + " && mkdir -p " + folder + " && echo 1 >" +
                        path + " && echo written 2>&1; umount " + top) == "written\n");
    }
    // Of busybox: what the kernel itself does not allow is "permission denied (are you root?)".
    const std::string mount_debugfs = "mkdir -p $0; mount -t debugfs none $0 2>&1";
    const auto mounted_on = [&](const std::string& folder) {
        return run_inside(guest.runtime(), "c1", {"sh", "-c", mount_debugfs, folder}).output;
    };
    CHECK_THAT(mounted_on("/var/lib/ureadahead/debugfs"), Catch::Contains("Permission denied"));
    CHECK_THAT(mounted_on("/mnt"), Catch::Contains("are you root"));
}

TEST_CASE("the guest itself changes to no label by which it would not be confined") {
    ConfinedGuest guest;
    guest.runtime().start("c1");
    const std::string before = guest.programs_by_label().begin()->first;
    guest.run(
        "(echo 'changeprofile unconfined' >/proc/self/attr/apparmor/current; exec sleep 61238) >/dev/null "
        "2>&1 &");
    REQUIRE(eventually([&] { return guest.programs_by_label()[before].contains("sleep"); }));
    const std::string other = lxc::policy_namespace_name(guest.options().bridge, "c2");
    for (const std::string& label :
         {":" + other + ":unconfined", lxc::guest_profile_name(guest.options().bridge)}) {
        INFO(label);
        CHECK_THAT(
            guest.run("{ echo 'changeprofile " + label + "' >/proc/self/attr/apparmor/current; } 2>&1"),
            Catch::Contains("No such file"));
    }
}

TEST_CASE("no namespace of policies is left when a container has ended, however that was") {
    ConfinedGuest guest;
    guest.runtime().start("c1");
    CHECK(!guest.namespaces().empty());
    guest.runtime().stop("c1", 0s);
    CHECK(guest.namespaces().empty());
    guest.runtime().start("c1");
    ::kill(guest.init(), SIGKILL);
    REQUIRE(eventually([&] { return guest.runtime().inspect("c1")->state == ContainerState::stopped; }));
    CHECK(eventually([&] { return guest.namespaces().empty(); }));
    if (!guest.own()) return;  // nobody removes what a monitor of liblxc that was killed has left
    guest.runtime().start("c1");
    ::kill(static_cast<pid_t>(std::stoi(read_file(guest.container("c1") / "monitor"))), SIGKILL);
    REQUIRE(eventually([&] { return guest.runtime().inspect("c1")->state == ContainerState::stopped; }));
    CHECK(eventually([&] { return guest.namespaces().empty(); }));
    guest.runtime().start("c1");
    guest.runtime().remove("c1");
    CHECK(guest.namespaces().empty());
}

TEST_CASE("where the profile is not loaded nothing starts, until a daemon loads it again") {
    ConfinedGuest guest;
    if (!guest.own()) skip("liblxc loads a profile for each start");
    guest.unload();
    CHECK_THROWS_WITH(guest.runtime().start("c1"), Catch::Contains("svc-guest-" + guest.options().bridge));
    CHECK(guest.namespaces().empty());
    guest.reopen();
    guest.runtime().start("c1");
    CHECK(guest.run("echo runs") == "runs\n");
    guest.unload();
    CHECK_THROWS_WITH(guest.run("echo runs"), Catch::Contains("svc-guest-" + guest.options().bridge));
}

TEST_CASE("a guest that covers its /proc has commands confined all the same") {
    ConfinedGuest guest;
    guest.runtime().start("c1");
    guest.run(tmpfs_on +
              "/proc && mkdir -p /proc/self/attr/apparmor && touch /proc/self/attr/exec "
              "/proc/self/attr/apparmor/exec /proc/self/attr/current /proc/self/attr/apparmor/current");
    const auto confined = [&] {
        const auto programs = guest.programs_by_label();
        return programs.size() == 1 && programs.begin()->second.contains("sleep");
    };
    if (!guest.own()) return;  // liblxc does not enter a guest without a /proc of its own
    guest.run("sleep 61239 >/dev/null 2>&1 </dev/null &");
    CHECK(eventually(confined));
}
