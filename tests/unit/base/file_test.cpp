#include "libsvc/base/file.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>
#include <catch2/catch.hpp>
#include <filesystem>

#include "libsvc/base/error.h"
#include "libsvc/base/presence.h"
#include "tests/support/skip.h"

namespace fs = std::filesystem;
using svc::TemporaryDirectory;

TEST_CASE("an atomic write replaces the file and leaves nothing beside it") {
    const TemporaryDirectory tmp(fs::temp_directory_path());
    const fs::path file = tmp.path() / "f";
    svc::write_file_atomically(file, "one", 0640);
    svc::write_file_atomically(file, std::string(300'000, 'x'), 0600);
    CHECK(svc::read_file(file).size() == 300'000);
    struct stat info {};
    REQUIRE(::stat(file.c_str(), &info) == 0);
    CHECK((info.st_mode & 07777U) == 0600);
    CHECK(std::distance(fs::directory_iterator(tmp.path()), {}) == 1);
}

TEST_CASE("a failed atomic write leaves the target and nothing beside it") {
    const TemporaryDirectory tmp(fs::temp_directory_path());
    fs::create_directory(tmp.path() / "taken");
    CHECK_THROWS_AS(svc::write_file_atomically(tmp.path() / "taken", "x"), svc::Error);
    CHECK(std::distance(fs::directory_iterator(tmp.path()), {}) == 1);
}

TEST_CASE("reading names the file alone and keeps its limit") {
    const TemporaryDirectory tmp(fs::temp_directory_path());
    try {
        svc::read_file(tmp.path() / "absent");
        FAIL("did not throw");
    } catch (const svc::Error& e) {
        CHECK(e.code() == svc::ErrorCode::not_found);
        CHECK(std::string(e.what()) == "cannot open 'absent': no such file or directory");
    }
    svc::write_file_atomically(tmp.path() / "f", "12345");
    CHECK(svc::read_file(tmp.path() / "f", 5) == "12345");
    CHECK_THROWS_AS(svc::read_file(tmp.path() / "f", 4), svc::Error);
    CHECK_FALSE(svc::read_file("/proc/self/stat").empty());
}

TEST_CASE("directories are made with their parents and may exist") {
    const TemporaryDirectory tmp(fs::temp_directory_path());
    svc::make_directories(tmp.path() / "a/b/c");
    svc::make_directories(tmp.path() / "a/b/c");
    CHECK(fs::is_directory(tmp.path() / "a/b/c"));
    svc::write_file_atomically(tmp.path() / "f", "");
    CHECK_THROWS_AS(svc::make_directories(tmp.path() / "f"), svc::Error);
    CHECK_THROWS_AS(svc::make_directories(tmp.path() / "f/x"), svc::Error);
}

TEST_CASE("removing a tree does not follow links") {
    const TemporaryDirectory tmp(fs::temp_directory_path());
    fs::create_directories(tmp.path() / "outside");
    svc::write_file_atomically(tmp.path() / "outside/keep", "x");
    fs::create_directories(tmp.path() / "tree/deep/er");
    fs::create_symlink(tmp.path() / "outside", tmp.path() / "tree/link");
    fs::create_symlink(tmp.path() / "tree", tmp.path() / "top");
    svc::write_file_atomically(tmp.path() / "tree/deep/file", "x");
    svc::remove_tree(tmp.path() / "top");  // a link itself: the link goes
    CHECK(fs::exists(tmp.path() / "tree/deep/file"));
    svc::remove_tree(tmp.path() / "tree/");
    CHECK_FALSE(fs::exists(tmp.path() / "tree"));
    CHECK(fs::exists(tmp.path() / "outside/keep"));
    svc::remove_tree(tmp.path() / "tree");  // absent is fine
    svc::remove_tree(tmp.path() / "no/such/parent");
}

TEST_CASE("a tree deeper than the descriptors a process may have is removed") {
    const TemporaryDirectory tmp(fs::temp_directory_path());
    fs::create_directory(tmp.path() / "tree");
    svc::FileDescriptor at = svc::open_file(tmp.path() / "tree", O_RDONLY | O_DIRECTORY);
    for (int i = 0; i < 3000; ++i) {
        REQUIRE(::mkdirat(at.get(), "d", 0700) == 0);
        at = svc::FileDescriptor(::openat(at.get(), "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
        REQUIRE(at);
    }
    svc::remove_tree(tmp.path() / "tree");
    CHECK_FALSE(fs::exists(tmp.path() / "tree"));
}

TEST_CASE("removing a tree stops at a mount") {
    const TemporaryDirectory tmp(fs::temp_directory_path());
    fs::create_directories(tmp.path() / "tree/mounted");
    fs::create_directories(tmp.path() / "outside");
    svc::write_file_atomically(tmp.path() / "outside/keep", "x");
    if (::mount((tmp.path() / "outside").c_str(), (tmp.path() / "tree/mounted").c_str(), nullptr, MS_BIND,
                nullptr) != 0)
        svc::test::skip("this process may not mount");
    try {
        svc::remove_tree(tmp.path() / "tree");
        FAIL_CHECK("did not throw");
    } catch (const svc::Error& e) {
        CHECK(e.code() == svc::ErrorCode::busy);
        CHECK(std::string(e.what()) == "cannot remove 'tree': a file system is mounted there");
    }
    CHECK_THROWS_AS(svc::remove_tree(tmp.path() / "tree/mounted"), svc::Error);
    CHECK(::umount2((tmp.path() / "tree/mounted").c_str(), MNT_DETACH) == 0);
    CHECK(fs::exists(tmp.path() / "outside/keep"));
}

TEST_CASE("a descriptor is closed once") {
    int number = -1;
    {
        svc::FileDescriptor file = svc::open_file("/dev/null", O_RDONLY);
        number = file.get();
        svc::FileDescriptor other = std::move(file);
        CHECK(other.get() == number);
        CHECK((::fcntl(number, F_GETFD) & FD_CLOEXEC) != 0);
    }
    CHECK(::fcntl(number, F_GETFD) == -1);
    CHECK(svc::free_bytes("/") > 0);
}

TEST_CASE("what cannot be read is not taken for what is not there") {
    const svc::TemporaryDirectory directory("/tmp");
    const auto file = directory.path() / "file";
    CHECK_FALSE(svc::read_if_there(file));
    CHECK_FALSE(svc::is_there(file));
    svc::write_file_atomically(file, "");
    CHECK(svc::read_if_there(file) == "");
    CHECK(svc::is_there(file));
    CHECK_THROWS_AS(svc::read_if_there(directory.path()), svc::Error);  // a directory
    std::filesystem::create_symlink("loop", directory.path() / "loop");
    CHECK_THROWS_AS(svc::read_if_there(directory.path() / "loop"), svc::Error);
    CHECK_THROWS_AS(svc::is_there(directory.path() / "loop" / "file"), svc::Error);
}
