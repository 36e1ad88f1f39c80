#include "libsvc/client/package.h"

#include <catch2/catch.hpp>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"

using namespace svc;

namespace {

struct Fixture {
    TemporaryDirectory directory{std::filesystem::temp_directory_path(), "package-test-"};
    std::filesystem::path write(const std::string& content) {
        const auto path = directory.path() / "image.tar.xz";
        write_file_atomically(path, content);
        return path;
    }
};

std::string read_whole(const Package& package, std::size_t piece) {
    std::string all;
    const auto source = package.source();
    for (std::string block; !(block = source(piece)).empty();) all += block;
    return all;
}

}  // namespace

TEST_CASE_METHOD(Fixture, "a package knows its digest and gives its bytes in pieces") {
    const std::string content(300'000, 'x');
    const Package package(write(content));
    CHECK(package.fingerprint() == sha256_hex(content));
    CHECK(package.size() == content.size());
    CHECK(read_whole(package, 4096) == content);
    CHECK(read_whole(package, 1 << 20) == content);
}

TEST_CASE_METHOD(Fixture, "an empty package is sent as nothing") {
    const Package package(write(""));
    CHECK(package.size() == 0);
    CHECK(package.fingerprint() == sha256_hex(""));
    CHECK(read_whole(package, 10).empty());
}

TEST_CASE_METHOD(Fixture, "progress ends at the whole size in both phases") {
    std::uint64_t hashed = 0, sent = 0;
    const Package package(write(std::string(5000, 'a')),
                          [&](PackagePhase phase, std::uint64_t done, std::uint64_t total) {
                              CHECK(total == 5000);
                              (phase == PackagePhase::hashing ? hashed : sent) = done;
                          });
    CHECK(hashed == 5000);
    read_whole(package, 1024);
    CHECK(sent == 5000);
}

TEST_CASE_METHOD(Fixture, "a package that is absent or no file is refused by name") {
    CHECK_THROWS_WITH(Package(directory.path() / "none"), Catch::Contains("none"));
    CHECK_THROWS_WITH(Package(directory.path()), Catch::Contains("not a regular file"));
}
