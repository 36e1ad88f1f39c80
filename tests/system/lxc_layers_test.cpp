// Layers made of containers, and archives made of layers.
#include <catch2/catch.hpp>

#include <linux/capability.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

#include <cstring>
#include <thread>

#include "libsvc/base/digest.h"
#include "libsvc/base/json.h"
#include "libsvc/base/strings.h"
#include "libsvc/formats/archive.h"
#include "libsvc/runtime/lxc/disk/overlay.h"
#include "tests/support/error_code.h"
#include "tests/system/lxc_fixture.h"

using namespace svc;
using namespace svc::test;
using namespace std::chrono_literals;

namespace {

std::string shell_output(const std::string& script) {
    const CommandResult result = run_command({"/bin/sh", "-ec", script}, 60s);
    if (result.status.code != 0) throw Error(ErrorCode::internal, script + ": " + result.errors);
    return result.output;
}

// What a container does to the files of its image.
const char* const changes =
    "echo changed > /motd; rm /dir/a; rm -r /gone; mkdir /gone; echo n > /gone/new; mv /renamed /moved; "
    "chown 33:44 /dir/b; chmod 4755 /dir/b; ln /dir/c /dir/c2; ln -s /motd /link; mkfifo /pipe; "
    "mkdir -p /tmp/left /opt/kept; echo x > /tmp/left/out; echo y > /opt/kept/file";

class Captured {
  public:
    Captured() {
        const std::filesystem::path tree = fixture.directory() / "package" / "rootfs";
        std::filesystem::create_directories(tree);
        run_shell("cd " + tree.native() +
                  "; mkdir dir gone renamed; echo a > dir/a; echo b > dir/b; echo c > dir/c; "
                  "echo g > gone/old; echo r > renamed/file");
        fixture.add_layer("base", patient_init);
        ContainerSpec spec = fixture.spec("c1");
        spec.files = {{"/etc/token", "secret", 0600}, {"/link-to-etc/other", "secret", 0600}};
        fixture.runtime().create(fixture.spec("c1"));
        fixture.runtime().start("c1");
        shell_inside(fixture.runtime(), "c1", "ln -s /etc /link-to-etc");
        fixture.runtime().stop("c1", 0s);
        fixture.runtime().create(spec);
        fixture.runtime().start("c1");
        const Finished done = shell_inside(fixture.runtime(), "c1", changes);
        if (done.code != 0) throw Error(ErrorCode::internal, done.errors);
        fixture.runtime().stop("c1", 0s);
    }
    LayerStore& layers() { return fixture.runtime().layers(); }
    void capture() { layers().capture("version", "c1", {"/tmp", "/no/such/path"}); }
    std::filesystem::path layer(const std::string& name) {
        return fixture.options().state_dir / "layers" / name;
    }

    // Everything of a tree that an image has: names, kinds, modes, owners, sizes, link targets, contents.
    static std::string listing(const std::filesystem::path& root, std::uint32_t id_base) {
        return shell_output(
            "cd " + root.native() +
            "; find . -printf '%p %y %m %s %l\\n' | sed -E 's/^([^ ]+ d [0-7]+) [0-9]+/\\1/' | "
            "sort; find . -printf '%p %U %G\\n' | awk '{print $1, $2-" +
            std::to_string(id_base) + ", $3-" + std::to_string(id_base) +
            "}' | sort; find . -type f -exec sha256sum {} + | sort");
    }
    std::uint32_t id_base() {
        return static_cast<std::uint32_t>(std::stoul(read_file(fixture.options().state_dir / "id_base")));
    }

    // The layers as a container sees them, without one.
    std::string merged_listing(const std::vector<std::string>& names) {
        std::vector<std::filesystem::path> folders;
        for (const std::string& name : names) folders.push_back(layer(name) / "rootfs");
        const TemporaryDirectory scratch(fixture.directory(), "scratch-");
        const FileDescriptor tree = lxc::open_merged(folders, scratch.path());
        return listing("/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(tree.get()),
                       id_base());
    }
    std::string exported(const std::vector<std::string>& names) {
        const auto stream = layers().export_archive({names, "architecture: x86_64\n"});
        std::string bytes;
        for (std::string part = stream->read(65536); !part.empty(); part = stream->read(65536)) bytes += part;
        return bytes;
    }
    void import(const std::string& name, const std::string& bytes) {
        write_file_atomically(fixture.directory() / "exported.tar.gz", bytes);
        layers().add(name, fixture.directory() / "exported.tar.gz", {});
    }
    void check_captured_container(const std::string& id) {
        ContainerSpec spec = fixture.spec(id, 9);
        spec.layers = {"base", "version"};
        Runtime& runtime = fixture.runtime();
        runtime.create(spec);
        runtime.start(id);
        CHECK(
            shell_inside(runtime, id, "cat /motd; ls -A /dir /gone /tmp; cat /moved/file; ls /renamed 2>&1")
                .output ==
            "changed\n/dir:\nb\nc\nc2\n\n/gone:\nnew\n\n/tmp:\nr\nls: /renamed: No such file or directory\n");
        CHECK(shell_inside(runtime, id,
                           "stat -c '%a %u %g' /dir/b; cat /link; test -p /pipe && cat /opt/kept/file")
                  .output == "4755 33 44\nchanged\ny\n");
        CHECK(shell_inside(runtime, id, "ls /etc; stat -c %s /var/lib/svc-agent 2>&1").output.find("token") ==
              std::string::npos);
        CHECK(shell_inside(runtime, id, "cat /etc/hostname").output == "svc-" + id + "\n");
        // A change over two layers, for the next one.
        CHECK(shell_inside(runtime, id, "rm /gone/new /dir/c; mv /moved /dir/again; echo 2 > /motd").code ==
              0);
        runtime.stop(id, 0s);
    }

    LxcFixture fixture;
};

}  // namespace

TEST_CASE("what a container changed is a layer over its own, and again over that") {
    Captured world;
    world.capture();
    world.capture();
    const Json record = Json::parse(read_file(world.layer("version") / "layer.json"));
    CHECK(JsonFields(record).require_int("entries") > 10);
    CHECK(world.layers().size("version") > 8);
    CHECK(world.layers().size("version") < 100);
    CHECK(std::filesystem::is_empty(world.fixture.container("c1") / "upper"));
    CHECK_FALSE(std::filesystem::exists(world.layer("version") / "rootfs/etc/other"));
    CHECK_FALSE(std::filesystem::exists(world.layer("version") / "rootfs/tmp"));
    for (const auto& entry : std::filesystem::recursive_directory_iterator(world.layer("version") / "rootfs"))
        CHECK(::lgetxattr(entry.path().c_str(), "trusted.overlay.origin", nullptr, 0) < 0);
    // The container goes on with an empty disk.
    world.fixture.runtime().start("c1");
    CHECK(shell_inside(world.fixture.runtime(), "c1", "cat /motd /dir/a").output == "from the image\na\n");
    world.check_captured_container("c2");
    world.layers().capture("third", "c2", {});
    ContainerSpec spec = world.fixture.spec("c3", 10);
    spec.layers = {"base", "version", "third"};
    world.fixture.runtime().create(spec);
    world.fixture.runtime().start("c3");
    CHECK(shell_inside(world.fixture.runtime(), "c3", "cat /motd; ls -A /dir /gone; cat /dir/again/file")
              .output == "2\n/dir:\nagain\nb\nc2\n\n/gone:\nr\n");
    CHECK(code_of([&] { world.layers().capture("fourth", "c3", {}); }) == ErrorCode::busy);
}

TEST_CASE("a capture that was killed at any step goes on, or is taken back by a start") {
    Captured world;
    const std::filesystem::path container = world.fixture.container("c1");
    const auto rename_upper = [&] {
        std::filesystem::create_directory(container / "capture");
        std::filesystem::rename(container / "upper", container / "capture/rootfs");
    };
    world.fixture.close();
    SECTION("before anything was moved") {
        std::filesystem::create_directory(container / "capture");
    }
    SECTION("after the move") {
        rename_upper();
    }
    SECTION("in the middle of cleaning") {
        rename_upper();
        std::filesystem::remove_all(container / "capture/rootfs/tmp");
        std::filesystem::remove(container / "capture/rootfs/etc/token");
    }
    SECTION("before it was published") {
        rename_upper();
        std::filesystem::remove_all(container / "capture/rootfs/tmp");
        write_file_atomically(container / "capture/layer.json", "half");
    }
    SECTION("before the empty disk was made") {
        world.fixture.reopen();
        world.capture();
        world.fixture.close();
        std::filesystem::remove(container / "upper");
        std::filesystem::remove_all(container / "work");
    }
    SECTION("and the container was started instead") {
        rename_upper();
        world.fixture.reopen();
        world.fixture.runtime().start("c1");
        CHECK(shell_inside(world.fixture.runtime(), "c1", "cat /motd /opt/kept/file").output ==
              "changed\ny\n");
        world.fixture.runtime().stop("c1", 0s);
    }
    world.fixture.reopen();
    CHECK(world.fixture.runtime().inspect("c1")->state == ContainerState::stopped);
    world.capture();
    CHECK_FALSE(std::filesystem::exists(container / "capture"));
    world.check_captured_container("c2");
    world.fixture.runtime().start("c1");
    CHECK(shell_inside(world.fixture.runtime(), "c1", "cat /motd").output == "from the image\n");
    world.fixture.runtime().remove("c1");
    world.fixture.runtime().remove("c2");
    CHECK(leftovers(world.fixture, "c1") == "");
}

TEST_CASE("a daemon killed while it captures leaves what can be captured again") {
    LxcFixture fixture;
    fixture.add_layer("base", patient_init);
    for (int moment = 0; moment < 12; ++moment) {
        fixture.runtime().create(fixture.spec("c1"));
        fixture.runtime().start("c1");
        REQUIRE(shell_inside(fixture.runtime(), "c1",
                             "for i in $(seq 300); do mkdir /tmp/$i; echo $i > /tmp/$i/file; done; rm /motd; "
                             "echo k > /kept")
                    .code == 0);
        fixture.runtime().stop("c1", 0s);
        fixture.close();
        SpawnOptions options;
        options.arguments = {std::filesystem::read_symlink("/proc/self/exe").native(), "--capture",
                             fixture.options().state_dir, fixture.options().bridge, fixture.options().subnet};
        options.environment = launcher_environment(fixture.options());
        {
            Child daemon(options);
            daemon.wait_for(std::chrono::milliseconds(20 + moment * 6));
        }  // killed
        fixture.reopen();
        INFO("killed after " << 20 + moment * 6 << " ms");
        LayerStore& layers = fixture.runtime().layers();
        if (moment % 4 != 3) layers.capture("version", "c1", {"/tmp/7"});
        if (layers.contains("version")) {
            const std::filesystem::path root = fixture.options().state_dir / "layers/version/rootfs";
            CHECK(read_file(root / "kept") == "k\n");
            CHECK(std::filesystem::exists(root / "tmp/300/file"));
            CHECK_FALSE(std::filesystem::exists(root / "tmp/7"));
            CHECK(layers.size("version") > 299);
        }
        fixture.runtime().remove("c1");
        CHECK(leftovers(fixture, "c1") == "");
        layers.remove("version");
        CHECK(layers.list() == std::vector<std::string>{"base"});
    }
}

TEST_CASE("an export is what a container sees, the same each time, and an image again") {
    Captured world;
    std::filesystem::path strange = world.fixture.container("c1") / "upper/opt";
    for (const std::string& name :
         {std::string("new\nline"), std::string("bytes\xff\xfe"), std::string(" "), std::string("-rf"),
          std::string(230, 'n'), std::string("\xe2\x82\xac"), std::string("..."), std::string("a\\b")})
        write_file_atomically(strange / name, name, 0640);
    run_shell("chown -R " + std::to_string(world.id_base()) + ":" + std::to_string(world.id_base()) + " " +
              strange.native());
    std::string deep = "opt";
    for (int i = 0; i < 40; ++i) deep += "/a-folder-with-a-long-name-" + std::to_string(i);
    run_shell("cd " + (world.fixture.container("c1") / "upper").native() + "; mkdir -p " + deep +
              "; echo deep > " + deep + "/file; chown -R " + std::to_string(world.id_base()) + ":" +
              std::to_string(world.id_base()) + " opt");
    world.capture();

    const std::string bytes = world.exported({"base", "version"});
    CHECK(world.exported({"base", "version"}) == bytes);
    world.import("again", bytes);
    CHECK(Captured::listing(world.layer("again") / "rootfs", world.id_base()) ==
          world.merged_listing({"base", "version"}));
    CHECK(world.exported({"again"}) == bytes);
    struct stat first {
    }, second{};
    ::stat((world.layer("again") / "rootfs/dir/c").c_str(), &first);
    ::stat((world.layer("again") / "rootfs/dir/c2").c_str(), &second);
    CHECK(first.st_ino == second.st_ino);
    bool all = false;
    CHECK(read_archive_member(world.fixture.directory() / "exported.tar.gz", "metadata.yaml", 1000,
                              UINT64_MAX, &all) == "architecture: x86_64\n");

    // One layer alone: its whiteouts are no files.
    world.import("alone", world.exported({"version"}));
    CHECK(shell_output("cd " + (world.layer("alone") / "rootfs").native() +
                       "; find . -type c -o -type b; ls dir; ls -d renamed || :") == "b\nc\nc2\n");
    ContainerSpec spec = world.fixture.spec("c2", 5, "again");
    world.fixture.runtime().create(spec);
    world.fixture.runtime().start("c2");
    CHECK(shell_inside(world.fixture.runtime(), "c2", "cat /motd; stat -c '%a %u %g' /dir/b").output ==
          "changed\n4755 33 44\n");
}

TEST_CASE("capabilities and attributes survive the export, device nodes do not") {
    Captured world;
    const std::filesystem::path file = world.fixture.container("c1") / "upper/opt/kept/file";
    vfs_ns_cap_data data{};
    data.magic_etc = VFS_CAP_REVISION_3;
    data.data[0].permitted = 1U << CAP_NET_RAW;
    data.rootid = world.id_base();
    REQUIRE(::setxattr(file.c_str(), "security.capability", &data, XATTR_CAPS_SZ_3, 0) == 0);
    REQUIRE(::setxattr(file.c_str(), "user.colour", "blue", 4, 0) == 0);
    REQUIRE(::mknod((file.parent_path() / "disk").c_str(), S_IFBLK | 0666, makedev(7, 0)) == 0);
    world.capture();
    world.import("again", world.exported({"base", "version"}));
    const std::filesystem::path copy = world.layer("again") / "rootfs/opt/kept/file";
    vfs_ns_cap_data other{};
    CHECK(::getxattr(copy.c_str(), "security.capability", &other, sizeof other) == XATTR_CAPS_SZ_3);
    CHECK(std::memcmp(&other, &data, XATTR_CAPS_SZ_3) == 0);
    std::array<char, 8> colour{};
    CHECK(::getxattr(copy.c_str(), "user.colour", colour.data(), colour.size()) == 4);
    CHECK_FALSE(std::filesystem::exists(copy.parent_path() / "disk"));
}

TEST_CASE("an export that is left or killed in the middle leaves no mount, folder or claim") {
    Captured world;
    world.capture();
    const auto mounts = [&] {
        std::string ours;
        for (const std::string& line : split(read_file("/proc/self/mountinfo"), '\n'))
            if (line.find(world.fixture.directory().native()) != std::string::npos) ours += line + "\n";
        return ours;
    };
    const std::string before = mounts();
    auto stream = world.layers().export_archive({{"base", "version"}, ""});
    CHECK(stream->read(1000).size() == 1000);
    CHECK(mounts() == before);
    CHECK(code_of([&] { world.layers().remove("version"); }) == ErrorCode::busy);
    CHECK(code_of([&] { world.layers().export_archive({{"base", "absent"}, ""}); }) == ErrorCode::not_found);
    CHECK(code_of([&] { world.layers().export_archive({{}, ""}); }) == ErrorCode::invalid_argument);
    CHECK(code_of([&] { world.layers().export_archive({{"../base"}, ""}); }) == ErrorCode::invalid_argument);
    stream.reset();
    world.layers().remove("version");
    world.fixture.runtime().start("c1");
    REQUIRE(shell_inside(world.fixture.runtime(), "c1", changes).code == 0);
    world.fixture.runtime().stop("c1", 0s);

    // What an older kernel needs: a moment of a mount, and what is left when that is the last moment.
    const std::filesystem::path scratch = world.fixture.options().state_dir / "layers/.tmp-export";
    std::filesystem::create_directory(scratch);
    world.capture();
    const std::vector<std::filesystem::path> folders = {world.layer("base") / "rootfs",
                                                        world.layer("version") / "rootfs"};
    {
        const FileDescriptor tree = lxc::mount_aside(folders, scratch);
        const std::string root = "/proc/self/fd/" + std::to_string(tree.get());
        CHECK(read_file(root + "/motd") == "changed\n");
        CHECK(std::filesystem::exists(root + "/dir/c2"));
        CHECK_FALSE(std::filesystem::exists(root + "/dir/a"));
    }
    CHECK(mounts() == before);
    REQUIRE(::mount("tmpfs", scratch.c_str(), "tmpfs", 0, "") == 0);
    world.fixture.reopen();
    CHECK(mounts() == before);
    CHECK_FALSE(std::filesystem::exists(scratch));
}

TEST_CASE("a file of holes is as large as it is, and ends an export that could not end") {
    Captured world;
    run_shell("truncate -s 10T " + (world.fixture.container("c1") / "upper/opt/holes").native());
    world.capture();
    CHECK(world.layers().size("version") < 10'000);
    CHECK(code_of([&] { world.exported({"base", "version"}); }) == ErrorCode::exhausted);
    world.layers().remove("version");
}

TEST_CASE("a daemon killed in the middle of an export leaves no mount and no folder") {
    Captured world;
    world.capture();
    world.fixture.close();
    for (int moment = 0; moment < 8; ++moment) {
        SpawnOptions options;
        options.arguments = {std::filesystem::read_symlink("/proc/self/exe").native(), "--export",
                             world.fixture.options().state_dir, world.fixture.options().bridge,
                             world.fixture.options().subnet};
        options.environment = launcher_environment(world.fixture.options());
        {
            Child daemon(options);
            daemon.wait_for(std::chrono::milliseconds(15 + moment * 10));
        }  // killed
        CHECK(read_file("/proc/mounts").find(world.fixture.options().state_dir.native()) ==
              std::string::npos);
        world.fixture.reopen();
        CHECK(shell_output("ls -A " + (world.fixture.options().state_dir / "layers").native()) ==
              "base\nversion\n");
        world.fixture.close();
    }
}

TEST_CASE("many layers with long names are mounted") {
    LxcFixture fixture;
    fixture.add_layer("base", patient_init);
    ContainerSpec spec = fixture.spec("c1");
    for (int i = 0; i < 40; ++i) {
        const std::string name = std::string(150, 'n') + std::to_string(i);
        const std::filesystem::path package = fixture.directory() / "layer.tar";
        run_shell("cd " + fixture.directory().native() + "; mkdir -p l/rootfs; echo " + std::to_string(i) +
                  " > l/rootfs/last; echo x > l/rootfs/file-" + std::to_string(i) +
                  "; tar -C l -cf layer.tar rootfs; rm -r l");
        fixture.runtime().layers().add(name, package, {});
        spec.layers.push_back(name);
    }
    fixture.runtime().create(spec);
    fixture.runtime().start("c1");
    CHECK(shell_inside(fixture.runtime(), "c1", "cat /last; ls / | grep -c file-").output == "39\n40\n");
    fixture.runtime().remove("c1");
    CHECK(leftovers(fixture, "c1") == "");
}

TEST_CASE("a snapshot is a copy of the disk, which is restored from it") {
    Captured world;
    Runtime& runtime = world.fixture.runtime();
    const auto inside = [&](const std::string& script) {
        runtime.start("c1");
        const Finished done = shell_inside(runtime, "c1", script);
        runtime.stop("c1", 0s);
        return done.output;
    };
    const std::filesystem::path upper = world.fixture.container("c1") / "upper";
    const std::string before = Captured::listing(upper, world.id_base());
    world.layers().snapshot("kept", "c1", {"/tmp"}, {});
    CHECK(Captured::listing(upper, world.id_base()) == before);
    CHECK_FALSE(std::filesystem::exists(world.layer("kept") / "rootfs/etc/other"));
    CHECK_FALSE(std::filesystem::exists(world.layer("kept") / "rootfs/tmp"));
    CHECK(world.layers().size("kept") > 8);

    CHECK(inside("rm -r /opt /gone; echo lost > /motd; echo new > /dir/new; cat /motd") == "lost\n");
    world.layers().restore("kept", "c1", {});
    CHECK(inside("cat /motd /opt/kept/file; ls -A /dir /gone; stat -c '%a %u %g' /dir/b") ==
          "changed\ny\n/dir:\nb\nc\nc2\n\n/gone:\nnew\n4755 33 44\n");
    CHECK_FALSE(std::filesystem::exists(world.fixture.container("c1") / "restored"));
    // The layer is not what the container writes to.
    inside("echo again > /motd");
    CHECK(read_file(world.layer("kept") / "rootfs/motd") == "changed\n");

    std::stop_source stopped;
    stopped.request_stop();
    const std::string kept = Captured::listing(upper, world.id_base());
    CHECK(code_of([&] { world.layers().restore("kept", "c1", stopped.get_token()); }) ==
          ErrorCode::cancelled);
    CHECK(Captured::listing(upper, world.id_base()) == kept);
    CHECK(code_of([&] { world.layers().snapshot("other", "c1", {}, stopped.get_token()); }) ==
          ErrorCode::cancelled);
    CHECK_FALSE(world.layers().contains("other"));
}
