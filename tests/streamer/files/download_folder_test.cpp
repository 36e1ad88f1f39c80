// Files of the client in a folder of the guest's user.
#include "instance-agent/streamer/files/download_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <thread>

#include "libsvc/base/error.h"
#include "tests/support/skip.h"

using namespace svc;
using namespace svc::streamer;
namespace fs = std::filesystem;
using Names = std::vector<std::string>;

namespace {

struct Place {
    TemporaryDirectory directory{fs::temp_directory_path(), "download-folder-"};
    fs::path path = directory.path() / "Downloads";
    DownloadFolder folder{path};

    std::string put(const std::string& name, const std::string& text) const {
        const auto upload = folder.begin(name);
        upload->write(text);
        return upload->finish();
    }
    Names all() const {
        Names names;
        if (fs::exists(path))
            for (const auto& entry : fs::recursive_directory_iterator(path))
                names.push_back(fs::relative(entry.path(), path));
        std::sort(names.begin(), names.end());
        return names;
    }
};

}  // namespace

TEST_CASE("a file is there when it is complete, and not before") {
    const Place place;
    const auto upload = place.folder.begin("a.txt");
    upload->write("hello ");
    upload->write("guest");
    CHECK(place.folder.list().empty());
    CHECK(upload->finish() == "a.txt");
    CHECK(place.all() == Names{"a.txt"});
    CHECK(read_file(place.path / "a.txt") == "hello guest");
}

TEST_CASE("a file that is given up leaves nothing") {
    const Place place;
    place.folder.begin("a.txt")->write("half");
    CHECK(place.all().empty());
}

TEST_CASE("a name that is taken gets a number") {
    const Place place;
    CHECK(place.put("a.tar", "1") == "a.tar");
    CHECK(place.put("a.tar", "2") == "a (1).tar");
    CHECK(place.put("a.tar", "3") == "a (2).tar");
    CHECK(read_file(place.path / "a.tar") == "1");
    fs::create_symlink("/etc/passwd", place.path / "link");
    CHECK(place.put("link", "4") == "link (1)");
    CHECK(numbered_name(".profile", 1) == ".profile (1)");
}

TEST_CASE("folders are made, and links in their place refused") {
    const Place place;
    place.put("x/y/a.txt", "1");
    place.put("x/y/b.txt", "2");
    CHECK(place.all() == Names{"x", "x/y", "x/y/a.txt", "x/y/b.txt"});
    fs::create_directory_symlink(place.directory.path(), place.path / "out");
    CHECK_THROWS_WITH(place.folder.begin("out/a.txt"), "'out' is no folder in the instance");
    CHECK_THROWS_WITH(place.folder.begin("x/y/a.txt/b"), "'a.txt' is no folder in the instance");
}

TEST_CASE("paths that lead elsewhere are refused") {
    for (const char* path : {"", ".", "..", "/etc/passwd", "../a", "a/../b", "a//b", "a/", "\x01"})
        CHECK_THROWS_AS(path_parts(path), Error);
    CHECK_THROWS_WITH(path_parts(std::string(201, 'x')), Catch::EndsWith("is too long"));
    std::string deep = "a";
    for (int i = 0; i < 20; ++i) deep += "/a";
    CHECK_THROWS_WITH(path_parts(deep), "the folders are nested too deeply");
    CHECK(path_parts("a\n/b\x7f.txt") == Names{"a", "b.txt"});
    CHECK(path_parts("ü/…") == Names{"ü", "…"});
}

TEST_CASE("what is listed are regular files that can be named") {
    const Place place;
    CHECK(place.folder.list().empty());
    place.put("a.txt", "12345");
    write_file_atomically(place.path / ".hidden", "");
    write_file_atomically(place.path / "bad\xff", "");
    write_file_atomically(place.path / "line\nbreak", "");
    fs::create_directory(place.path / "folder");
    fs::create_symlink("a.txt", place.path / "link");
    REQUIRE(mkfifo((place.path / "pipe").c_str(), 0600) == 0);
    const auto files = place.folder.list();
    REQUIRE(files.size() == 1);
    CHECK(files[0].name == "a.txt");
    CHECK(files[0].size == 5);
}

TEST_CASE("files alone are opened, and none of another folder") {
    const Place place;
    place.put("a.txt", "12345");
    CHECK(place.folder.open("a.txt").size == 5);
    fs::create_symlink("/etc/passwd", place.path / "link");
    REQUIRE(mkfifo((place.path / "pipe").c_str(), 0600) == 0);
    write_file_atomically(place.path / ".hidden", "");
    for (const char* name : {"nothing", "link", "pipe", ".hidden", "..", "../a", "x/a.txt", ""})
        CHECK_THROWS_AS(place.folder.open(name), Error);
}

TEST_CASE("files belong to the owner of the place, who cannot lead root elsewhere") {
    test::skip_unless_root();
    const Place place;
    constexpr uid_t user = 54321;
    REQUIRE(chown(place.directory.path().c_str(), user, user) == 0);
    fs::permissions(place.directory.path(), fs::perms::owner_all);
    std::string refusal;
    // The ids for files stay with their thread.
    std::jthread([&] {
        place.folder.become_owner();
        place.put("a.txt", "1");
        fs::remove_all(place.path);
        fs::create_directory_symlink("/root", place.path);
        try {
            place.put("b.txt", "2");
        } catch (const Error& e) {
            refusal = e.what();
        }
        fs::remove(place.path);
        place.put("c.txt", "3");
    }).join();
    CHECK(refusal.find("open the folder") != std::string::npos);  // no link is followed
    struct stat status {};
    REQUIRE(stat((place.path / "c.txt").c_str(), &status) == 0);
    CHECK((status.st_uid == user && status.st_gid == user));
    REQUIRE(stat(place.path.c_str(), &status) == 0);
    CHECK(status.st_uid == user);
}

TEST_CASE("a place behind a link is not there") {
    const Place place;
    place.put("a.txt", "1");
    const TemporaryDirectory elsewhere{fs::temp_directory_path(), "download-folder-"};
    fs::create_directory_symlink(place.directory.path(), elsewhere.path() / "home");
    const DownloadFolder folder(elsewhere.path() / "home" / "Downloads");
    CHECK_THROWS_WITH(folder.list(), "the place for files of the client is not there");
    CHECK_THROWS_WITH(folder.open("a.txt"), "the place for files of the client is not there");
}

TEST_CASE("a place that is not there is said") {
    const DownloadFolder folder("/nowhere/at/all/Downloads");
    CHECK_THROWS_AS(folder.list(), Error);
}
