#include "libsvc/runtime/lxc/container/rootfs.h"

#include <sys/stat.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include <csignal>
#include <fstream>
#include <stop_token>
#include <thread>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/formats/oci/command.h"
#include "libsvc/runtime/lxc/container/halt_signals.h"

using namespace svc;
using namespace svc::lxc;

namespace {

struct RootfsTree {
    TemporaryDirectory directory{std::filesystem::temp_directory_path(), "svc-rootfs-"};
    std::filesystem::path root = directory.path() / "root";
    RootfsTree() { std::filesystem::create_directories(root / "etc"); }
    void place(const std::string& path, const std::string& content = "x", unsigned mode = 0640) const {
        place_file(root, {path, content, mode}, ::getuid());
    }
};

}  // namespace

TEST_CASE("placed files get their folders, content and mode, and replace what was there") {
    const RootfsTree tree;
    tree.place("/var/lib/svc-agent/userdata", "first, and longer");
    tree.place("/var/lib/svc-agent/userdata", "second");
    CHECK(read_file(tree.root / "var/lib/svc-agent/userdata") == "second");
    struct stat info {};
    REQUIRE(::stat((tree.root / "var/lib/svc-agent/userdata").c_str(), &info) == 0);
    CHECK((info.st_mode & 07777U) == 0640);
}

TEST_CASE("links in an image lead a placed file nowhere outside") {
    const RootfsTree tree;
    std::filesystem::create_directories(tree.directory.path() / "outside");
    std::filesystem::create_directory_symlink(tree.directory.path() / "outside", tree.root / "absolute");
    std::filesystem::create_directory_symlink("../outside", tree.root / "up");
    std::filesystem::create_symlink(tree.directory.path() / "outside/file", tree.root / "etc/link");
    CHECK_THROWS_AS(tree.place("/absolute/file"), Error);
    CHECK_THROWS_AS(tree.place("/up/file"), Error);
    tree.place("/etc/link");
    CHECK_FALSE(std::filesystem::is_symlink(tree.root / "etc/link"));
    CHECK(std::filesystem::is_empty(tree.directory.path() / "outside"));
    std::filesystem::create_directory_symlink("/etc", tree.root / "config");
    tree.place("/config/inside");
    CHECK(read_file(tree.root / "etc/inside") == "x");
}

TEST_CASE("names that are not plain absolute files are refused") {
    const RootfsTree tree;
    CHECK_THROWS_WITH(tree.place("relative"), "file name 'relative' is not absolute");
    CHECK_THROWS_WITH(tree.place("/a/../b"), "file name '/a/../b' has '..' in it");
    CHECK_THROWS_AS(tree.place("/etc/"), Error);
    CHECK_THROWS_AS(tree.place("/etc"), Error);
}

TEST_CASE("init is found through links as the guest sees them") {
    const RootfsTree tree;
    std::filesystem::create_directories(tree.root / "sbin");
    CHECK_THROWS_WITH(find_init(tree.root, "/sbin/init"), "image has no init: '/sbin/init' not found");
    std::filesystem::create_directories(tree.root / "lib/systemd");
    std::ofstream(tree.root / "lib/systemd/systemd") << "x";
    std::filesystem::create_symlink("/lib/systemd/systemd", tree.root / "sbin/init");
    CHECK_THROWS_WITH(find_init(tree.root, "/sbin/init"),
                      "image has no init: '/sbin/init' is not an executable file");
    ::chmod((tree.root / "lib/systemd/systemd").c_str(), 0755);
    CHECK(find_init(tree.root, "/sbin/init --log").ends_with("/lib/systemd/systemd"));
}

TEST_CASE("the signals that end an image are those of the init that its file starts") {
    const RootfsTree tree;
    tree.place("/lib/systemd/systemd", "x", 0755);
    ContainerSpec spec;
    spec.init = oci_init_path;
    const auto signals = [&](const OciCommand& command) {
        tree.place(oci_init_path, command.text(), 0755);
        const HaltSignals found = find_halt_signals(tree.root, spec);
        if (command.init() != nullptr && !command.stop_signal.empty())
            CHECK(found.name == std::to_string(found.numbers.front()));
        return found.numbers;
    };
    CHECK(signals({{"/lib/systemd/systemd", "--system"}, {"A=1"}, "", "", ""}) ==
          std::vector<int>{SIGRTMIN + 3});
    CHECK(signals({{"/lib/systemd/systemd"}, {}, "", "", "SIGINT"}) == std::vector<int>{SIGINT});
    CHECK(signals({{"/lib/systemd/systemd"}, {}, "", "", "RTMIN+3"}) == std::vector<int>{SIGRTMIN + 3});
    CHECK(signals({{"nginx"}, {}, "", "", "SIGQUIT"}) == std::vector<int>{SIGPWR, SIGTERM});
    CHECK_THROWS_WITH(signals({{"/sbin/init"}, {}, "", "", ""}),
                      Catch::EndsWith("image has no init: '/sbin/init' not found"));
    CHECK_THROWS_WITH(signals({{"/sbin/init"}, {}, "", "", "SIGNONE"}), "/.svc-init: 'SIGNONE' is no signal");
    tree.place(oci_init_path, std::string(2 << 20, 'x'), 0755);
    CHECK_THROWS_WITH(find_halt_signals(tree.root, spec), Catch::Contains("is larger than"));
}

TEST_CASE("Android's init is /init, and is told to shut down by its own signal") {
    const RootfsTree tree;
    ContainerSpec spec;
    spec.android = true;
    CHECK_THROWS_WITH(find_halt_signals(tree.root, spec), "image has no init: '/init' not found");
    tree.place("/init", "x", 0755);
    CHECK(find_halt_signals(tree.root, spec).numbers == std::vector<int>{SIGTERM});
    CHECK(find_halt_signals(tree.root, spec).name == "SIGTERM");
}

TEST_CASE("a file of a tree is found where it lies, not where links lead") {
    const RootfsTree tree;
    tree.place("/system/build.prop", "x", 0644);
    tree.place("/real/build.prop", "x", 0644);
    std::filesystem::create_symlink("real", tree.root / "linked");
    std::filesystem::create_symlink("/etc/passwd", tree.root / "passwd");
    CHECK(has_file(tree.root, "/system/build.prop"));
    CHECK_FALSE(has_file(tree.root, "/system"));
    CHECK_FALSE(has_file(tree.root, "/linked/build.prop"));
    CHECK_FALSE(has_file(tree.root, "/passwd"));
    CHECK_FALSE(has_file(tree.root / "none", "/passwd"));
}

// The kernel gives up on a ".." that meets a rename or a mount, whosoever's, and wants to be asked again.
TEST_CASE("init is found through a link upwards while files are renamed elsewhere") {
    const RootfsTree tree;
    tree.place("/bin/busybox", "x", 0755);
    std::filesystem::create_directories(tree.root / "sbin");
    std::filesystem::create_symlink("../bin/busybox", tree.root / "sbin/init");
    const std::filesystem::path here = tree.directory.path() / "here";
    const std::filesystem::path there = tree.directory.path() / "there";
    std::ofstream(here) << "x";
    const std::jthread renames([&](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            std::filesystem::rename(here, there);
            std::filesystem::rename(there, here);
        }
    });
    const auto find_often = [&] {
        for (int i = 0; i < 20'000; ++i) find_init(tree.root, "/sbin/init");
    };
    CHECK_NOTHROW(find_often());
}
