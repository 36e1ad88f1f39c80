// Layers of lxc on their way from one machine to another.
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <catch2/catch.hpp>

#include "libsvc/base/file.h"
#include "libsvc/base/processes/process.h"
#include "libsvc/runtime/lxc/disk/layers.h"
#include "tests/support/error_code.h"
#include "tests/support/skip.h"

using namespace svc;
using namespace svc::lxc;
using namespace svc::test;
namespace fs = std::filesystem;

namespace {

constexpr std::uint32_t id_base = 500000, id_count = 65536;

// A state directory.
struct PackedWorld {
    explicit PackedWorld(std::uint32_t base = id_base) : layers(Layout{directory.path()}, base, id_count) {}
    fs::path rootfs(const std::string& name) const { return Layout{directory.path()}.layer_rootfs(name); }

    TemporaryDirectory directory{fs::temp_directory_path(), "svc-packed-"};
    Layers layers;
};

// Bytes in steps that have nothing to do with the ends of messages.
struct StepStream final : ArchiveStream {
    explicit StepStream(std::string all) : rest(std::move(all)) {}
    std::string read(std::size_t at_most) override {
        std::string piece = rest.substr(0, std::min<std::size_t>(at_most, 7777));
        rest.erase(0, piece.size());
        return piece;
    }
    std::string rest;
};

std::string shell(const std::string& script) {
    const CommandResult result = run_command({"/bin/sh", "-ec", script}, std::chrono::minutes(1));
    if (result.status.code != 0) throw std::runtime_error(result.errors);
    return result.output;
}

std::string packed_bytes(ArchiveStream& stream) {
    std::string all;
    for (std::string piece = stream.read(10'000); !piece.empty(); piece = stream.read(10'000)) all += piece;
    return all;
}

// All that a file system knows of a tree, but for what is new for each copy.
std::string described(const fs::path& tree) {
    return shell(
        "cd " + tree.native() +
        "; find . -printf '%p %y %m %U %G %s %n %T@ %l\\n' | LC_ALL=C sort; find . -type c -exec stat -c '%n "
        "%t %T' {} + | LC_ALL=C sort; find . -type f -exec sha256sum {} + | LC_ALL=C sort; getfattr -Rhd -m "
        "- "
        "--absolute-names . | LC_ALL=C sort");
}

// What images, guests and overlays make.
void fill(const fs::path& root) {
    const std::string id = std::to_string(id_base), user = std::to_string(id_base + 1000);
    shell("mkdir -p " + root.native() + "; cd " + root.native() +
          "; mkdir -p etc home/user opaque 'with space'; echo one > etc/one; ln etc/one 'with space/same'; "
          "ln -s "
          "/etc/one link; mkfifo pipe; mknod gone c 0 0; head -c 300000 /dev/urandom > home/user/data; "
          "truncate -s 5M "
          "home/user/hole; echo x > \"$(printf 'na\\303\\257ve \\377')\"; echo s > etc/setuid; chown -R " +
          id + ":" + id + " .; chown " + user + ":" + user +
          " home/user/data; chmod 4755 etc/setuid; chmod 1777 home; chmod 0 etc/one; touch -h -d "
          "'2001-02-03 04:05:06.123456789' link etc/one opaque .");
    const auto set = [&](const char* file, const char* name, const std::string& value) {
        if (::setxattr((root / file).c_str(), name, value.data(), value.size(), 0) != 0)
            throw std::runtime_error(std::string(name) + " cannot be set");
    };
    set("opaque", "trusted.overlay.opaque", "y");
    set("etc/setuid", "user.note", std::string("a\0b", 3));
    // cap_net_raw=ep for the root with this id, as of a user namespace.
    std::string capability("\x01\x00\x00\x03\x00\x20\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
                           20);
    for (int i = 0; i < 4; ++i) capability += static_cast<char>(id_base >> (8 * i) & 0xffU);
    set("home/user/data", "security.capability", capability);
}

void make_layer(const PackedWorld& world, const std::string& name) {
    fill(world.rootfs(name));
    write_file_atomically(world.rootfs(name).parent_path() / "layer.json",
                          R"({"schema":1,"bytes":4711,"entries":9})");
}

}  // namespace

TEST_CASE("a layer arrives as it is: owners, modes, times, links, whiteouts, attributes, holes") {
    if (::geteuid() != 0) skip("needs root");
    PackedWorld from, to;
    make_layer(from, "app");
    StepStream stream(packed_bytes(*from.layers.pack("app")));
    to.layers.unpack("app", stream, {});
    CHECK(described(to.rootfs("app")) == described(from.rootfs("app")));
    CHECK(to.layers.size("app") == 4711);
    struct stat hole {};
    REQUIRE(::stat((to.rootfs("app") / "home/user/hole").c_str(), &hole) == 0);
    CHECK(hole.st_blocks == 0);
    StepStream again("");
    CHECK_NOTHROW(to.layers.unpack("app", again, {}));
}

TEST_CASE("a layer that is being packed cannot be removed") {
    PackedWorld world;
    fs::create_directories(world.rootfs("app"));
    write_file_atomically(world.rootfs("app").parent_path() / "layer.json", "{}");
    auto stream = world.layers.pack("app");
    CHECK(code_of([&] { world.layers.remove("app"); }) == ErrorCode::busy);
    stream->read(10);
    stream.reset();  // in the middle
    CHECK_NOTHROW(world.layers.remove("app"));
    CHECK(code_of([&] { world.layers.pack("app"); }) == ErrorCode::not_found);
}

TEST_CASE("a layer that does not arrive whole leaves nothing") {
    if (::geteuid() != 0) skip("needs root");
    PackedWorld from, to, foreign(id_base + id_count);
    make_layer(from, "app");
    const std::string bytes = packed_bytes(*from.layers.pack("app"));
    const auto code_with = [](PackedWorld& world, const std::string& text, std::stop_token stop = {}) {
        StepStream stream(text);
        return code_of([&] { world.layers.unpack("app", stream, stop); });
    };
    CHECK(code_with(to, bytes.substr(0, bytes.size() / 2)) == ErrorCode::invalid_argument);
    CHECK(code_with(to, "") == ErrorCode::invalid_argument);
    CHECK(code_with(to, "<html>") == ErrorCode::invalid_argument);
    CHECK(code_with(to, bytes.substr(0, bytes.find('\n') + 1) + std::string(100'000, 'x')) ==
          ErrorCode::invalid_argument);
    CHECK(code_with(foreign, bytes) == ErrorCode::unsupported);
    std::stop_source stop;
    stop.request_stop();
    CHECK(code_with(to, bytes, stop.get_token()) == ErrorCode::cancelled);
    for (const PackedWorld* world : {&to, &foreign}) {
        CHECK_FALSE(fs::exists(world->rootfs("app")));
        CHECK(fs::is_empty(world->directory.path() / "layers"));
    }
}
