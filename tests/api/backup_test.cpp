// svcd export and svcd import: a backup under load, and the service that is made of it.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <future>
#include <thread>

#include "libsvc/base/error.h"
#include "libsvc/runtime/lxc/disk/folder.h"
#include "libsvc/store/sqlite/sqlite_store.h"
#include "libsvc/store/sqlite/statement.h"
#include "server/state/backup.h"
#include "server/state/backup_reader.h"
#include "server/state/check.h"
#include "server/state/export.h"
#include "server/state/import.h"
#include "server/state/salvage.h"
#include "tests/support/application_package.h"
#include "tests/support/daemon_process.h"
#include "tests/support/error_code.h"
#include "tests/support/image_package.h"
#include "tests/support/skip.h"
#include "tests/support/test_daemon.h"

namespace svc::test {

namespace {

using server::StatePaths;
using namespace server::state;
namespace fs = std::filesystem;

struct BackupSetup {
    TestDaemon daemon;
    ApiCaller* api = &daemon.api();
    TemporaryDirectory outside{fs::temp_directory_path(), "svc-backup-"};
    StatePaths paths{daemon.path() / "state"};
    fs::path file = outside.path() / "backup.tar.gz";
    fs::path copy = outside.path() / "state";

    BackupSetup() {
        api->add_image("base", image_package());
        api->add_addon("ssh", addon_package());
        api->add_application(application_package("candy"));
        api->set("images.update_interval", "2h");
        api->settle();
    }
    Findings write() { return export_state(paths, file, {"simulated"}); }
    Findings restore(const std::string& node = "elsewhere") {
        return import_state(file, copy, {node, 500000});
    }
    // Another daemon, over what was restored.
    void serve_copy() {
        daemon.restart([&](server::Options& options) {
            options.state_dir = copy;
            options.node_name = "elsewhere";
        });
        api = &daemon.api();
    }
    Json records(const std::string& noun) { return api->get("/1.0/" + noun + "?recursion=1").metadata(); }
    std::string served() {
        return records("images").dump() + records("addons").dump() + records("applications").dump() +
               api->get("/1.0/config").metadata().dump();
    }
};

// A path of so many folders is longer than what the kernel takes at once.
void nest_folders(const fs::path& root, std::size_t count) {
    FileDescriptor folder = open_file(root, O_RDONLY | O_DIRECTORY);
    for (std::size_t i = 0; i < count; ++i) {
        REQUIRE(::mkdirat(folder.get(), "d", 0755) == 0);
        folder = FileDescriptor(::openat(folder.get(), "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    }
}

void corrupt(const fs::path& file, std::uintmax_t at) {
    const FileDescriptor opened = open_file(file, O_RDWR);
    char byte = 0;
    REQUIRE(::pread(opened.get(), &byte, 1, static_cast<off_t>(at)) == 1);
    byte = static_cast<char>(byte ^ 0x55);
    REQUIRE(::pwrite(opened.get(), &byte, 1, static_cast<off_t>(at)) == 1);
}

}  // namespace

TEST_CASE_METHOD(BackupSetup, "what is restored from a backup serves the same, and launches") {
    const std::string running = api->launch("base", "instances");
    const std::string before = served();
    const std::string secret = read_file(paths.token_secret());
    CHECK(write().clean());
    struct stat info {};
    REQUIRE(::stat(file.c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0600);
    const Findings changed = restore();
    INFO(changed.to_lines());
    const Findings checked = check_state(StatePaths(copy), {"simulated", true});
    INFO(checked.to_lines());
    CHECK(checked.clean());
    serve_copy();
    CHECK(served() == before);
    CHECK(read_file(copy / "tokens.key") == secret);
    CHECK(api->get("/1.0/nodes").metadata() == Json::array({"/1.0/nodes/elsewhere"}));
    const Json instance = api->get("/1.0/instances/" + running).metadata();
    CHECK(instance.at("status") == Json("error"));
    CHECK(instance.at("error_message") == Json("its disk is not in the backup: a start makes an empty one"));
    CHECK(instance.at("address") == Json(""));
    api->succeed(api->patch("/1.0/instances/" + running, Json::object({{"desired_status", "running"}})));
    CHECK(api->get("/1.0/instances/" + running).metadata().at("status") == Json("running"));
    api->succeed(api->post("/1.0/instances", Json::object({{"app_id", "candy"}})));
    api->launch("base", "instances");
}

TEST_CASE_METHOD(BackupSetup, "a backup that is made while others work is whole") {
    std::atomic<bool> stop{false};
    auto load = std::async(std::launch::async, [&] {
        ApiCaller own(daemon.local_target());
        int rounds = 0;
        for (; !stop; ++rounds) {
            const std::string name = "image" + std::to_string(rounds);
            const std::string made = own.add_image(name, image_package({.text = name}));
            own.succeed(own.remove("/1.0/instances/" + own.launch(name, "instances")));
            own.succeed(own.remove("/1.0/images/" + made));
        }
        return rounds;
    });
    for (int i = 0; i < 4; ++i) {
        file = outside.path() / ("backup" + std::to_string(i));
        copy = outside.path() / ("state" + std::to_string(i));
        CHECK(write().clean());
        restore();
        const Findings checked = check_state(StatePaths(copy), {"simulated", true});
        INFO(checked.to_lines());
        CHECK(checked.clean());
    }
    stop = true;
    CHECK(load.get() > 0);
    serve_copy();
    CHECK(api->get("/1.0/images/base").status == 200);
    api->settle();
    api->launch("base", "instances");
}

TEST_CASE_METHOD(BackupSetup, "a backup that is damaged or cut restores nothing") {
    write();
    const auto size = fs::file_size(file);
    SECTION("cut in the middle") {
        fs::resize_file(file, size / 2);
    }
    SECTION("cut in the manifest, behind which there is padding alone") {
        fs::resize_file(file, size - 200);
    }
    SECTION("a byte in the middle") {
        corrupt(file, size / 2);
    }
    SECTION("no archive") {
        fs::resize_file(file, 0);
    }
    CHECK_THROWS_AS(restore(), Error);
    CHECK_FALSE(fs::exists(copy));
    CHECK(std::distance(fs::directory_iterator(outside.path()), fs::directory_iterator()) == 1);
}

TEST_CASE_METHOD(BackupSetup, "nothing is written over, neither by an export nor by an import") {
    write();
    const std::string before = read_file(file);
    CHECK(code_of([&] { write(); }) == ErrorCode::conflict);
    CHECK(read_file(file) == before);
    make_directories(copy);
    write_file_atomically(copy / "precious", "data");
    CHECK(code_of([&] { restore(); }) == ErrorCode::conflict);
    CHECK(read_file(copy / "precious") == "data");
    fs::remove(copy / "precious");
    restore();
    CHECK(fs::exists(copy / "svc.db"));
}

TEST_CASE_METHOD(BackupSetup, "what a killed export has left goes with the next one, and two do not meet") {
    make_directories(paths.root() / ".export-killed");
    write_file_atomically(paths.root() / ".export-killed/package", "data");
    {
        const FileDescriptor other = open_file(paths.root(), O_RDONLY | O_DIRECTORY);
        REQUIRE(::flock(other.get(), LOCK_EX) == 0);
        CHECK(code_of([&] { write(); }) == ErrorCode::conflict);
        CHECK(fs::exists(paths.root() / ".export-killed/package"));
    }
    CHECK(write().clean());
    CHECK_FALSE(fs::exists(paths.root() / ".export-killed"));
}

TEST_CASE_METHOD(BackupSetup, "export and import are programs") {
    const std::vector<std::string> from{"--state-dir", paths.root(), "--runtime", "simulated"};
    std::vector<std::string> arguments{"export", file};
    arguments.insert(arguments.end(), from.begin(), from.end());
    const DaemonRun made = run_svcd(arguments);
    INFO(made.output);
    CHECK(made.status == 0);
    CHECK(run_svcd(arguments).status == 1);
    CHECK(run_svcd({"export", "--state-dir", paths.root()}).status == 2);
    const DaemonRun restored = run_svcd({"import", file, "--state-dir", copy, "--node-name", "elsewhere"});
    INFO(restored.output);
    CHECK(restored.status == 0);
    serve_copy();
    CHECK(api->get("/1.0/images/base").status == 200);
}

TEST_CASE_METHOD(BackupSetup, "a disk or a log that changes under a backup fails nothing else") {
    const std::string id = api->launch("base", "instances");
    api->succeed(api->patch("/1.0/instances/" + id, Json::object({{"desired_status", "stopped"}})));
    const fs::path disk = paths.root() / "lxc" / "containers" / id / "upper";
    const fs::path logs = paths.logs() / "another";
    for (const fs::path& folder : {disk, logs}) make_directories(folder);
    for (int i = 0; i < 20; ++i) write_file_atomically(disk / std::to_string(i), "");
    std::atomic<bool> stop{false};
    auto changing = std::async(std::launch::async, [&] {
        while (!stop) {
            for (const std::uintmax_t size : {std::uintmax_t{4} << 20U, std::uintmax_t{0}})
                for (int i = 0; i < 20; ++i) fs::resize_file(disk / std::to_string(i), size);
            write_file_atomically(logs / "log", "line");
            fs::remove(logs / "log");
        }
    });
    for (int i = 0; i < 12; ++i) {
        file = outside.path() / ("backup" + std::to_string(i));
        CHECK_NOTHROW(export_state(paths, file, {"lxc", true}));
    }
    stop = true;
    changing.get();
    CHECK_NOTHROW(restore());
}

TEST_CASE_METHOD(BackupSetup,
                 "a disk that cannot be copied, or a record that is too large, fails nothing else") {
    std::vector<std::string> ids;
    for (int i = 0; i < 2; ++i) {
        ids.push_back(api->launch("base", "instances"));
        api->succeed(
            api->patch("/1.0/instances/" + ids.back(), Json::object({{"desired_status", "stopped"}})));
        make_directories(paths.root() / "lxc" / "containers" / ids.back() / "upper");
    }
    nest_folders(paths.root() / "lxc" / "containers" / ids.front() / "upper", lxc::max_tree_depth + 2);
    daemon.stop();
    SqliteConnection(paths.database())
        .execute("UPDATE entries SET value = zeroblob(2000000) WHERE key LIKE 'addons/%'");
    const Findings found = export_state(paths, file, {"lxc", true});
    INFO(found.to_lines());
    CHECK_FALSE(found.clean());
    CHECK(found.to_lines().find("folders are nested too deeply") != std::string::npos);
    CHECK(found.to_lines().find("larger than any record") != std::string::npos);
    restore();
    CHECK_FALSE(fs::exists(copy / "lxc/containers" / ids.front()));
    CHECK(fs::exists(copy / "lxc/containers" / ids.back()));
}

TEST_CASE_METHOD(BackupSetup, "the disk of an instance that ran when it became unreadable is not copied") {
    const std::string id = api->launch("base", "instances");
    daemon.stop();
    make_directories(paths.root() / "lxc" / "containers" / id / "upper");
    {
        SqliteStore store(paths.database());
        Json record = Json::parse(store.get("instances/" + id)->value);
        record.set("status", "error");
        record.set("status_when_readable", "running");
        store.commit(Batch().put("instances/" + id, record.dump()));
    }
    const Findings found = export_state(paths, file, {"lxc", true});
    INFO(found.to_lines());
    CHECK(found.to_lines().find("it runs, or is worked on: its disk is not in the backup") !=
          std::string::npos);
}

TEST_CASE("a tree comes back from a backup as the guest sees it, with the owners of another machine") {
    if (::geteuid() != 0) skip("needs root");
    const TemporaryDirectory folder(fs::temp_directory_path(), "svc-tree-");
    const fs::path tree = folder.path() / "tree";
    make_directories(tree / "etc/deep", 0755);
    write_file_atomically(tree / "etc/passwd", "root", 0644);
    write_file_atomically(tree / "setuid", "program", 0755);
    fs::create_symlink("/etc/passwd", tree / "link");
    const std::string latin = "50%25 caf\xe9";  // no UTF-8
    write_file_atomically(tree / latin, "coffee", 0644);
    fs::create_symlink(latin, tree / "link to a name");
    fs::create_hard_link(tree / "etc/passwd", tree / "second");
    for (const std::string& path : {std::string(), std::string("etc"), std::string("etc/deep"),
                                    std::string("etc/passwd"), std::string("setuid"), latin})
        REQUIRE(::chown((tree / path).c_str(), 100000 + 7, 100000 + 8) == 0);
    REQUIRE(::chmod((tree / "setuid").c_str(), 04755) == 0);
    REQUIRE(::mknod((tree / "gone").c_str(), S_IFCHR, 0) == 0);
    REQUIRE(::mknod((tree / "null").c_str(), S_IFCHR | 0600, makedev(1, 3)) == 0);
    REQUIRE(::setxattr((tree / "etc/deep").c_str(), "trusted.overlay.opaque", "y", 1, 0) == 0);
    REQUIRE(::setxattr((tree / "etc/deep").c_str(), "trusted.overlay.redirect", "/etc", 4, 0) == 0);
    {
        BackupWriter writer(folder.path() / "backup");
        writer.add_text(backup_head, R"({"format":1,"runtime":"lxc"})");
        writer.add_tree("layers/one/rootfs", tree, {100000, 65536});
        writer.finish(Json::object({{"disks", Json::array()}}));
    }
    const fs::path target = folder.path() / "target";
    make_directories(target);
    BackupReader(folder.path() / "backup", target, {700000, 65536}).unpack();
    const fs::path back = target / "layers/one/rootfs";
    struct stat info {};
    REQUIRE(::lstat((back / "setuid").c_str(), &info) == 0);
    CHECK(info.st_uid == 700007);
    CHECK(info.st_gid == 700008);
    CHECK((info.st_mode & 07777) == 04755);
    REQUIRE(::lstat((back / "gone").c_str(), &info) == 0);
    CHECK(S_ISCHR(info.st_mode));
    CHECK(info.st_rdev == 0);
    CHECK_FALSE(fs::exists(back / "null"));
    CHECK(fs::read_symlink(back / "link") == "/etc/passwd");
    CHECK(fs::read_symlink(back / "link to a name") == latin);
    CHECK(read_file(back / latin) == "coffee");
    CHECK(fs::equivalent(back / "etc/passwd", back / "second"));
    CHECK(read_file(back / "second") == "root");
    char opaque = 0;
    CHECK(::getxattr((back / "etc/deep").c_str(), "trusted.overlay.opaque", &opaque, 1) == 1);
    CHECK(::getxattr((back / "etc/deep").c_str(), "trusted.overlay.redirect", nullptr, 0) < 0);
}

TEST_CASE("a backup comes back with every owner that a container can have, and with no other") {
    if (::geteuid() != 0) skip("needs root");
    const TemporaryDirectory folder(fs::temp_directory_path(), "svc-tree-");
    const std::uint32_t count = GENERATE(65536U, 131072U);
    make_directories(folder.path() / "tree");
    write_file_atomically(folder.path() / "tree/last", "");
    REQUIRE(::chown((folder.path() / "tree/last").c_str(), 200000 + count - 1, 200000 + count - 1) == 0);
    {
        BackupWriter writer(folder.path() / "backup");
        writer.add_text(backup_head, R"({"format":1,"runtime":"lxc"})");
        writer.add_tree("disks/one", folder.path() / "tree", {200000, count});
        writer.finish(Json::object({{"disks", Json::array({"one"})}}));
    }
    const auto unpack = [&](std::uint32_t known) {
        const fs::path target = folder.path() / std::to_string(known);
        make_directories(target);
        BackupReader(folder.path() / "backup", target, {700000, known}).unpack();
        return target / "disks/one/last";
    };
    struct stat info {};
    REQUIRE(::lstat(unpack(count).c_str(), &info) == 0);
    CHECK(info.st_uid == 700000 + count - 1);
    CHECK(code_of([&] { unpack(count - 1); }) == ErrorCode::invalid_argument);
}

TEST_CASE_METHOD(BackupSetup, "a disk of a backup is closed to others, and leads nowhere else") {
    const std::string id = GENERATE("one", "..", "../../precious", "/tmp", "absent", "");
    write_database(outside.path() / "svc.db", {});
    make_directories(outside.path() / "tree");
    {
        BackupWriter writer(file);
        writer.add_text(backup_head, R"({"format":1,"runtime":"lxc"})");
        writer.add_file("svc.db", outside.path() / "svc.db");
        writer.add_tree("disks/one", outside.path() / "tree", {0, 65536});
        writer.finish(Json::object({{"disks", Json::array({id})}}));
    }
    if (id != "one") {
        CHECK(code_of([&] { restore(); }) == ErrorCode::invalid_argument);
        return;
    }
    restore();
    struct stat info {};
    REQUIRE(::stat((copy / "lxc/containers/one").c_str(), &info) == 0);
    CHECK((info.st_mode & 07777) == 0700);
}

}  // namespace svc::test
