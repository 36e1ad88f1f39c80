#include "libsvc/runtime/lxc/disk/capture.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include <fstream>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/json.h"
#include "libsvc/runtime/lxc/disk/folder.h"

using namespace svc;
using namespace svc::lxc;
namespace fs = std::filesystem;

namespace {

struct Container {
    TemporaryDirectory directory{fs::temp_directory_path(), "svc-capture-"};
    Layout layout{directory.path()};
    fs::path upper = layout.upper("c1");
    fs::path captured = layout.capture("c1");
    Capture capture{layout, "c1"};
    Container() {
        fs::create_directories(upper / "etc");
        fs::create_directories(upper / "tmp/deep");
        std::ofstream(upper / "etc/token") << "secret";
        std::ofstream(upper / "etc/kept") << "12345";
        std::ofstream(upper / "tmp/deep/file") << "x";
        fs::create_hard_link(upper / "etc/kept", upper / "kept-too");
        fs::create_directory_symlink("/etc", upper / "link");
    }
};

}  // namespace

TEST_CASE("what was changed is moved, without what is left out, and counted") {
    const Container container;
    CHECK(container.capture.take({"/etc/token", "/tmp", "/absent/too", "/link/kept", "/etc/../tmp"}) ==
          container.captured);
    CHECK_FALSE(fs::exists(container.upper));
    const fs::path root = container.captured / "rootfs";
    CHECK(read_file(root / "etc/kept") == "12345");
    CHECK_FALSE(fs::exists(root / "etc/token"));
    CHECK_FALSE(fs::exists(root / "tmp"));
    const Json json = Json::parse(read_file(container.captured / "layer.json"));
    const JsonFields record(json);
    CHECK(record.require_int("bytes") == 5);  // once, whatever names it has
    CHECK(record.require_int("entries") == 4);
    CHECK(container.capture.begun());
    container.capture.take({"/etc/kept"});
    CHECK_FALSE(fs::exists(root / "etc/kept"));
}

TEST_CASE("a capture that was begun is put back") {
    const Container container;
    container.capture.put_back();
    CHECK(read_file(container.upper / "etc/token") == "secret");
    container.capture.take({});
    container.capture.put_back();
    CHECK(read_file(container.upper / "etc/token") == "secret");
    CHECK_FALSE(fs::exists(container.captured));
    CHECK_FALSE(container.capture.begun());
}

TEST_CASE("paths that name no file of the tree are no paths to leave out") {
    const Container container;
    for (const char* path : {"/", "", "..", "/..", "../x", "/a/../.."})
        CHECK_THROWS_WITH(container.capture.take({path}), Catch::EndsWith("cannot be left out"));
    CHECK(fs::exists(container.captured / "rootfs/etc/token"));
}

TEST_CASE("links lead a removal nowhere outside") {
    const Container container;
    fs::create_directory(container.directory.path() / "outside");
    std::ofstream(container.directory.path() / "outside/file") << "x";
    fs::create_directory_symlink(container.directory.path() / "outside", container.upper / "out");
    remove_inside(container.upper, "/out/file");
    CHECK(fs::exists(container.directory.path() / "outside/file"));
    remove_inside(container.upper, "/out");
    CHECK_FALSE(fs::is_symlink(container.upper / "out"));
    CHECK(fs::exists(container.directory.path() / "outside/file"));
}

TEST_CASE("folders without an end are refused") {
    const Container container;
    fs::path deep = container.upper;
    for (std::size_t i = 0; i <= max_tree_depth; ++i) deep /= "d";
    fs::create_directories(deep);
    CHECK_THROWS_WITH(container.capture.take({}), "folders of the container are nested too deeply");
    container.capture.put_back();
    CHECK(fs::exists(container.upper / "etc/token"));
}
