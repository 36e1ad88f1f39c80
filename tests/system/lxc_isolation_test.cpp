// What another user of the host, or the root of another container, can do to a container: nothing.
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/xattr.h>

#include <catch2/catch.hpp>

#include <functional>
#include <set>

#include "libsvc/base/json.h"
#include "libsvc/base/strings.h"
#include "libsvc/formats/archive.h"
#include "libsvc/runtime/lxc/disk/overlay.h"
#include "libsvc/runtime/lxc/host/cgroups.h"
#include "libsvc/runtime/lxc/host/id_ranges.h"
#include "tests/support/skip.h"
#include "tests/system/lxc_fixture.h"

using namespace svc;
using namespace svc::test;
using namespace std::chrono_literals;

namespace {

constexpr uid_t other_user = 65534;

// What a process of this user prints; it has no groups and no rights of root.
std::string as_user(uid_t user, const std::function<std::string()>& work) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw system_error("cannot make a pipe", errno);
    const pid_t child = ::fork();
    if (child == 0) {
        const bool dropped = ::setgroups(0, nullptr) == 0 && ::setresgid(user, user, user) == 0 &&
                             ::setresuid(user, user, user) == 0;
        const std::string text = dropped ? work() : "cannot become another user";
        ::_exit(::write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
    }
    ::close(ends[1]);
    const FileDescriptor output(ends[0]);
    std::string text = read_output(output.get());
    int status = 0;
    ::waitpid(child, &status, 0);
    return status == 0 ? text : text + "the process failed";
}

// Each of the paths that can be opened, listed or executed.
std::string reachable(const std::vector<std::string>& paths) {
    std::string found;
    for (const std::string& path : paths) {
        const FileDescriptor opened(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
        if (opened || ::access(path.c_str(), X_OK) == 0 || ::access(path.c_str(), W_OK) == 0)
            found += path + "\n";
    }
    return found;
}

std::vector<std::string> all_paths(const std::filesystem::path& folder) {
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(
             folder, std::filesystem::directory_options::skip_permission_denied))
        paths.push_back(entry.path().native());
    return paths;
}

uid_t owner_of(const std::filesystem::path& path) {
    struct stat info {};
    return ::lstat(path.c_str(), &info) == 0 ? info.st_uid : 0;
}

struct TwoGuests : LxcFixture {
    TwoGuests() {
        add_layer("base", patient_init);
        start("a", 2);
        start("b", 3);
    }
    void start(const std::string& id, unsigned number, const std::vector<std::string>& layers = {"base"}) {
        ContainerSpec wanted = spec(id, number);
        wanted.layers = layers;
        runtime().create(wanted);
        runtime().start(id);
    }
    std::string inside(const std::string& id, const std::string& script) {
        return shell_inside(runtime(), id, script).output;
    }
    pid_t init(const std::string& id) { return runtime().inspect(id)->init_pid; }
    std::string proc(const std::string& id, const std::string& file) {
        return "/proc/" + std::to_string(init(id)) + "/" + file;
    }
    uid_t root_of(const std::string& id) {
        return lxc::parse_mapped_root(read_file(proc(id, "uid_map"))).value_or(lxc::IdRange{}).first;
    }
    uid_t on_disk() { return static_cast<uid_t>(std::stoul(read_file(options().state_dir / "id_base"))); }
};

// The guest's groups, as the kernel names them: "4:memory:/svc-svcbr0/a".
struct OwnGroup {
    std::string controllers;
    std::filesystem::path path;
};
std::vector<OwnGroup> groups_of(const lxc::CgroupLayout& layout, const std::string& text) {
    std::vector<OwnGroup> groups;
    for (const std::string& line : split(text, '\n')) {
        const std::vector<std::string> fields = split(line, ':');
        if (fields.size() != 3 || fields[2] == "/") continue;
        const auto mount = layout.v1.find(fields[1].substr(0, fields[1].find(',')));
        if (fields[1].empty()) groups.push_back({"", layout.v2.native() + fields[2]});
        if (mount != layout.v1.end()) groups.push_back({fields[1], mount->second.native() + fields[2]});
    }
    return groups;
}

gid_t group_of(const std::filesystem::path& path) {
    struct stat info {};
    return ::lstat(path.c_str(), &info) == 0 ? info.st_gid : 0;
}

// A file of the guest's root, and one of its user 33, made by the guest.
constexpr const char* make_files = "echo 1 > /made; echo 2 > /www; chown 33:44 /www; chmod 6755 /www";
constexpr const char* list_files = "stat -c '%n %u %g %a' /made /www /motd";
constexpr const char* listed_files = "/made 0 0 644\n/www 33 44 6755\n/motd 0 0 644\n";

std::string registered(const LxcFixture& fixture) {
    std::string found;
    const std::filesystem::path registry = "/run/svc-lxc/ids";
    if (!std::filesystem::exists(registry)) return found;
    for (const auto& entry : std::filesystem::directory_iterator(registry)) {
        std::error_code gone;
        const std::string target = std::filesystem::read_symlink(entry.path(), gone).native();
        if (target.starts_with(fixture.directory().native())) found += target + "\n";
    }
    return found;
}

}  // namespace

TEST_CASE("each container has user ids of its own, and files on disk have one form") {
    TwoGuests world;
    const uid_t a = world.root_of("a");
    const uid_t b = world.root_of("b");
    CHECK(a != b);
    CHECK(a != world.on_disk());
    CHECK(b != world.on_disk());
    CHECK(Json::parse(world.runtime().capacity().details.dump()).dump().find("\"id_ranges\":\"own\"") !=
          std::string::npos);
    for (const std::string id : {"a", "b"}) {
        world.inside(id, make_files);
        CHECK(world.inside(id, list_files) == listed_files);
        CHECK(owner_of(world.container(id) / "rootfs/made") == world.root_of(id));
        CHECK(owner_of(world.container(id) / "rootfs/www") == world.root_of(id) + 33);
        CHECK(owner_of(world.container(id) / "upper/made") == world.on_disk());
        CHECK(owner_of(world.container(id) / "upper/www") == world.on_disk() + 33);
    }
}

TEST_CASE(
    "a guest owns its control group of version 2, which is limited, and none of a controller of version 1") {
    TwoGuests world;
    const auto groups = groups_of(lxc::detect_cgroup_layout(), read_file(world.proc("a", "cgroup")));
    CHECK_FALSE(groups.empty());
    for (const OwnGroup& group : groups) {
        INFO(group.path);
        const gid_t owner = group.controllers.empty() ? world.root_of("a") : 0;
        for (const char* name : {"", "cgroup.procs"}) CHECK(group_of(group.path / name) == owner);
        if (!group.controllers.empty()) continue;
        CHECK(trim(read_file(group.path / "cgroup.max.descendants")) == "4096");
        CHECK(trim(read_file(group.path / "cgroup.max.depth")) == "12");
    }
}

TEST_CASE("no other user of the host reaches a file of a container, its records or its layers") {
    TwoGuests world;
    world.inside("a", "cp /bin/busybox /shell; chmod 6755 /shell; chmod -R 777 /root; mkdir -m 777 /open");
    const std::string shell = (world.container("a") / "rootfs/shell").native();
    const std::string below = (world.container("a") / "upper/shell").native();
    std::vector<std::string> paths = all_paths(world.options().state_dir);
    paths.push_back(world.options().state_dir.native());
    paths.insert(paths.end(), {world.proc("a", "root"), world.proc("a", "root/shell"), world.proc("a", "cwd"),
                               world.proc("a", "environ"), world.proc("a", "mem")});
    CHECK(std::find(paths.begin(), paths.end(), shell) != paths.end());
    CHECK(std::find(paths.begin(), paths.end(), below) != paths.end());
    // Folders without a list of their content may be passed: nobody can guess more than their names.
    const std::string passable = (world.options().state_dir / "containers").native() + "\n" +
                                 world.options().state_dir.native() + "\n";
    CHECK(as_user(other_user, [&] { return reachable(paths); }) == passable);
    // The same in the eyes of the root of container b, had it found a way out of its own root file system.
    std::vector<std::string> of_others;
    for (const std::string& path : paths)
        if (path.find("/containers/b") == std::string::npos) of_others.push_back(path);
    CHECK(as_user(world.root_of("b"), [&] { return reachable(of_others); }) == passable);
    CHECK(as_user(other_user, [&] {
              std::string listed;
              for (const std::string& path : {world.options().state_dir.native(), passable})
                  if (FileDescriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)))
                      listed += path;
              return listed;
          }) == "");
}

TEST_CASE("the root of one container can neither signal nor look into processes of another") {
    TwoGuests world;
    const pid_t victim = world.init("a");
    const auto attack = [&] {
        std::string done;
        if (::kill(victim, 0) == 0) done += "signalled ";
        for (const char* const file : {"mem", "environ", "root/motd", "fd", "maps"})
            if (FileDescriptor(::open(world.proc("a", file).c_str(), O_RDONLY | O_CLOEXEC))) done += file;
        return done;
    };
    CHECK(as_user(world.root_of("b"), attack) == "");
    CHECK(as_user(world.root_of("a"), attack).find("signalled") == 0);  // the attack itself works
}

TEST_CASE("setuid programs work inside a container, and are out of the reach of others") {
    TwoGuests world;
    world.inside("a",
                 "rm -f /bin/su; cp /bin/busybox /bin/su; chmod 4755 /bin/su; mkdir -p /etc; "
                 "printf 'root::0:0::/:/bin/sh\\nann:x:1000:1000::/:/bin/sh\\n' > /etc/passwd; "
                 "printf 'root:x:0:\\nann:x:1000:\\n' > /etc/group; printf 'root:::0:::::\\n' > /etc/shadow");
    CHECK(world.inside("a",
                       "busybox su ann -c 'id -u; exec /bin/su root -c \"id -u; echo 1 > /by-su\"' 2>&1") ==
          "1000\n0\n");
    CHECK(owner_of(world.container("a") / "rootfs/by-su") == world.root_of("a"));
    // Another user of the host does not even see that it is there.
    const std::string shell = (world.container("a") / "rootfs/bin/su").native();
    REQUIRE(::access(shell.c_str(), X_OK) == 0);
    CHECK(as_user(other_user, [&] { return ::access(shell.c_str(), F_OK) == 0 ? "seen" : ""; }) == "");
}

TEST_CASE("captures, snapshots and restored disks have the same owners in a container with other ids") {
    TwoGuests world;
    world.inside("a", make_files);
    world.runtime().stop("a", 1s);
    LayerStore& layers = world.runtime().layers();
    layers.snapshot("copy", "a", {}, {});
    layers.capture("version", "a", {});
    CHECK(owner_of(world.options().state_dir / "layers/version/rootfs/www") == world.on_disk() + 33);
    world.start("c", 4, {"base", "version"});
    world.start("d", 5, {"base", "copy"});
    CHECK(world.inside("c", list_files) == listed_files);
    CHECK(world.inside("d", list_files) == listed_files);
    world.runtime().stop("b", 1s);
    layers.restore("copy", "b", {});
    world.runtime().start("b");
    CHECK(world.inside("b", list_files) == listed_files);
    CHECK(world.inside("d", "echo more >> /www && chown 5 /made && stat -c %u /made") == "5\n");
    const std::set<uid_t> roots{world.root_of("b"), world.root_of("c"), world.root_of("d")};
    CHECK(roots.size() == 3);
}

TEST_CASE(
    "a container of a version with one range for all keeps it while it runs, and its files after that") {
    LxcFixture world;
    world.close();
    world.options().ranges = 0;
    world.reopen();
    const std::string details = world.runtime().capacity().details.dump();
    CHECK(details.find("no ranges are configured") != std::string::npos);
    world.add_layer("base", patient_init);
    world.runtime().create(world.spec("old"));
    world.runtime().start("old");
    shell_inside(world.runtime(), "old", make_files);
    ::chmod(world.container("old").c_str(), 0711);
    world.close();
    world.options().ranges = 8;
    world.reopen();
    const auto root = [&] {
        const pid_t init = world.runtime().inspect("old")->init_pid;
        return lxc::parse_mapped_root(read_file("/proc/" + std::to_string(init) + "/uid_map"))
            .value_or(lxc::IdRange{})
            .first;
    };
    const uid_t before = root();
    CHECK(std::to_string(before) + "\n" == read_file(world.options().state_dir / "id_base"));
    CHECK(shell_inside(world.runtime(), "old", list_files).output == listed_files);
    CHECK(shell_inside(world.runtime(), "old", "echo x > /dev/stdout").output == "x\n");
    CHECK(as_user(other_user, [&] { return reachable({(world.container("old") / "upper").native()}); }) ==
          "");
    world.runtime().stop("old", 1s);
    world.runtime().start("old");
    CHECK(root() != before);
    CHECK(shell_inside(world.runtime(), "old", list_files).output == listed_files);
}

TEST_CASE("ranges are kept over a restart of the daemon and go with the containers") {
    TwoGuests world;
    const uid_t a = world.root_of("a");
    world.close();
    std::ofstream(world.container("b") / "spec.json", std::ios::trunc);
    world.reopen();  // b cannot be read
    CHECK(shell_inside(world.runtime(), "a", "echo x > /dev/stdout").output == "x\n");
    world.start("c", 4);
    CHECK(world.root_of("a") == a);
    CHECK(world.root_of("c") != a);
    const auto ids = std::to_string(world.root_of("c"));
    CHECK(split(registered(world), '\n').size() == 4);  // three, and the end
    for (const char* const id : {"a", "b", "c"}) world.runtime().remove(id);
    CHECK(registered(world) == "");
}

TEST_CASE("the folder of a container that has stopped is closed to who gets its user ids next") {
    TwoGuests world;
    world.runtime().stop("a", 1s);
    struct stat info {};
    REQUIRE(::stat(world.container("a").c_str(), &info) == 0);
    CHECK(info.st_uid == 0);
    CHECK(info.st_gid == 0);
    CHECK((info.st_mode & 07777U) == 0700U);
}

TEST_CASE("owners are mapped over folders without and with a path") {
    skip_unless_root();
    const TemporaryDirectory directory("/var/tmp", "svc-mapping-");
    const lxc::IdMapping mapping{100'000, 0x70000000, 65536};
    const auto path = [&](const char* name) { return directory.path() / name; };
    lxc::Overlay overlay{{path("low"), path("high")}, path("upper"), path("work"), path("rootfs"), mapping};
    for (const char* const name : {"low", "high", "upper", "work", "rootfs"})
        std::filesystem::create_directory(path(name));
    run_shell("cd " + directory.path().native() + "; echo 1 > low/file; chown 100007:100008 low/file upper");
    for (int layer = 0; layer < 60; ++layer) {  // so many that their names do not fit into one page
        const std::string name = std::string(60, 'x') + std::to_string(layer);
        std::filesystem::create_directory(path(name.c_str()));
        overlay.layers.push_back(path(name.c_str()));
    }
    bool on_this_kernel = true;
    SECTION("with") {
        lxc::mount_over_attached(overlay);
    }
    SECTION("without") {
        on_this_kernel = static_cast<bool>(lxc::mount_over_detached(overlay));
        if (!on_this_kernel) WARN("this kernel mounts no overlay over folders without a path");
    }
    if (on_this_kernel) {
        CHECK(owner_of(path("rootfs/file")) == 0x70000007);
        CHECK(::chown(path("rootfs/file").c_str(), 0x70000001, 0x70000001) == 0);
        CHECK(owner_of(path("upper/file")) == 100'001);
        CHECK(::chown(path("rootfs/file").c_str(), 100'000, 100'000) != 0);
        lxc::unmount_overlay(overlay.target);
    }
    CHECK(read_file("/proc/self/mountinfo").find(directory.path().native()) == std::string::npos);
}

TEST_CASE("where owners cannot be mapped the node's record says why") {
    CHECK(lxc::id_mapping_failure("/proc", {100'000, 0x70000000, 65536}) != "");
    const TemporaryDirectory directory("/var/tmp", "svc-mapping-");
    CHECK(lxc::id_mapping_failure(directory.path(), {100'000, 0x70000000, 65536}) == "");
    CHECK(std::filesystem::is_empty(directory.path()));
}
