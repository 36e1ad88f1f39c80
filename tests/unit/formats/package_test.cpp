#include "libsvc/formats/package.h"

#include <catch2/catch.hpp>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "tests/unit/formats/archive_builder.h"

using namespace svc;

namespace {

struct Fixture {
    TemporaryDirectory tmp{std::filesystem::temp_directory_path()};
    std::filesystem::path package = tmp.path() / "package";
    PackageLimits limits;

    PackageListing list(const std::vector<ArchiveItem>& items, int filter = ARCHIVE_FILTER_BZIP2) {
        build_archive(package, items, filter);
        return list_package(package, limits);
    }
    std::string refusal(const std::vector<ArchiveItem>& items, int filter = ARCHIVE_FILTER_BZIP2) {
        try {
            list(items, filter);
        } catch (const Error& e) {
            CHECK(e.code() == ErrorCode::invalid_argument);
            return e.what();
        }
        return "accepted";
    }
};

ArchiveItem file(std::string path, std::string content = "x") {
    return {.path = std::move(path), .content = std::move(content)};
}
ArchiveItem soft_link(std::string path, std::string text) {
    return {.path = std::move(path), .type = AE_IFLNK, .link = std::move(text)};
}

const std::vector<ArchiveItem> usual = {
    {.path = "./", .type = AE_IFDIR, .mode = 0755},
    file("./manifest.yaml", "name: x\n"),
    {.path = "./hooks/", .type = AE_IFDIR, .mode = 0755},
    {.path = "./hooks/install", .content = "#!/bin/sh\n", .mode = 0755},
    soft_link("hooks/prepare", "../hooks/install"),
};

void check_usual(const PackageListing& listing) {
    CHECK(listing.has_manifest);
    CHECK(listing.manifest == "name: x\n");
    CHECK(listing.unpacked_bytes == 18);
    REQUIRE(listing.entries.size() == 4);
    REQUIRE(listing.find("hooks/install") != nullptr);
    CHECK(listing.find("hooks/install")->kind == PackageEntryKind::file);
    CHECK(listing.find("hooks/install")->mode == 0755);
    CHECK(listing.find("hooks/install")->size == 10);
    CHECK(listing.find("hooks")->kind == PackageEntryKind::directory);
    CHECK(listing.find("hooks/prepare")->kind == PackageEntryKind::symbolic_link);
    CHECK(listing.find("hooks/absent") == nullptr);
}

}  // namespace

TEST_CASE_METHOD(Fixture, "a bzip2 tarball is listed with its manifest") {
    const PackageListing listing = list(usual);
    CHECK(listing.format == PackageFormat::bzip2_tar);
    check_usual(listing);
}

TEST_CASE_METHOD(Fixture, "a zip archive is listed alike") {
    build_zip(package, usual);
    const PackageListing listing = list_package(package);
    CHECK(listing.format == PackageFormat::zip);
    check_usual(listing);
}

TEST_CASE_METHOD(Fixture, "a package without a manifest is for the caller to refuse") {
    CHECK_FALSE(list({file("other")}).has_manifest);
    CHECK_FALSE(list({file("sub/manifest.yaml")}).has_manifest);
}

TEST_CASE_METHOD(Fixture, "only bzip2 tarballs and zip archives are packages") {
    for (const int filter : {ARCHIVE_FILTER_NONE, ARCHIVE_FILTER_GZIP, ARCHIVE_FILTER_XZ})
        CHECK(refusal(usual, filter) == "package is not a bzip2 tarball");
    for (const char* bytes : {"", "P", "text", "BZ", "PK\3"}) {
        write_file_atomically(package, bytes);
        CHECK_THROWS_WITH(list_package(package), "package is not a bzip2 tarball");
    }
    write_file_atomically(package, "BZh91AY&SY nothing of the kind");
    CHECK_THROWS_WITH(list_package(package), Catch::StartsWith("archive is malformed: "));
    write_file_atomically(package, "PK\3\4 nothing of the kind");
    CHECK_THROWS_WITH(list_package(package), Catch::StartsWith("archive is malformed: "));
}

TEST_CASE_METHOD(Fixture, "a package that is compressed twice is refused") {
    for (const int inner :
         {ARCHIVE_FILTER_GZIP, ARCHIVE_FILTER_BZIP2, ARCHIVE_FILTER_XZ, ARCHIVE_FILTER_ZSTD}) {
        build_archive(package, usual, inner);
        compress_file(package, ARCHIVE_FILTER_BZIP2);
        CHECK_THROWS_WITH(list_package(package), Catch::StartsWith("archive is malformed: "));
    }
}

TEST_CASE_METHOD(Fixture, "a truncated or damaged package is found wherever it is cut") {
    const std::vector<ArchiveItem> items = {file("manifest.yaml", "a: b\n"),
                                            file("data", random_bytes(300'000))};
    const bool zip = GENERATE(false, true);
    if (zip)
        build_zip(package, items);
    else
        build_archive(package, items, ARCHIVE_FILTER_BZIP2);
    std::string bytes = read_file(package);
    for (const std::size_t size : {bytes.size() / 4, bytes.size() / 2, bytes.size() - 30}) {
        write_file_atomically(package, bytes.substr(0, size));
        CHECK_THROWS_AS(list_package(package), Error);
    }
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x55);
    write_file_atomically(package, bytes);
    CHECK_THROWS_AS(list_package(package), Error);
}

TEST_CASE_METHOD(Fixture, "names and links that leave the package are refused") {
    CHECK(refusal({file("/etc/passwd")}) == "entry '/etc/passwd' has an absolute name");
    CHECK(refusal({file("a/../../b")}) == "entry 'a/../../b' has '..' in its name");
    for (const char* target : {"/etc/passwd", "../../x", "sub/../..", "sub/.."})
        CHECK(refusal({soft_link("hooks/link", target)}) ==
              "entry 'hooks/link' is a link that leaves the package");
    for (const char* target : {"..", "../x", "x/y", "./x"})
        CHECK(refusal({soft_link("hooks/link", target)}) == "accepted");
    CHECK(refusal({file("a"), {.path = "b", .hard_link = "../a"}}) == "entry 'b' has '..' in its name");
    CHECK(refusal({file("a"), {.path = "b", .hard_link = "/a"}}) == "entry 'b' has an absolute name");
    CHECK(refusal({file("a"), {.path = "b", .hard_link = "c"}}) ==
          "entry 'b' is a hard link to no file of the package");
    CHECK(refusal({file("a"), {.path = "b", .hard_link = "a"}}) == "accepted");
}

TEST_CASE_METHOD(Fixture, "entries that could mean two things are refused") {
    CHECK(refusal({file("a"), file("./a")}) == "entry 'a' appears twice");
    CHECK(refusal({{.path = "a", .type = AE_IFDIR}, {.path = "a/", .type = AE_IFDIR}}) == "accepted");
    CHECK(refusal({soft_link("a", "b"), file("a/c")}) ==
          "entry 'a/c' lies beneath something that is not a directory");
    CHECK(refusal({file("a/c"), file("a")}) == "entry 'a/c' lies beneath something that is not a directory");
    CHECK(refusal({file(".")}) == "entry '.' takes the place of the top directory");
    CHECK(refusal({file("x"), soft_link("manifest.yaml", "x")}) ==
          "entry 'manifest.yaml' is not a regular file");
}

TEST_CASE_METHOD(Fixture, "devices and pipes are refused") {
    for (const unsigned type : {unsigned{AE_IFCHR}, unsigned{AE_IFBLK}, unsigned{AE_IFIFO}})
        CHECK(refusal({{.path = "x", .type = type}}) ==
              "entry 'x' is neither a file, a directory nor a link");
}

TEST_CASE_METHOD(Fixture, "limits hold at their edge") {
    limits = {3, 6, 4, {}};
    CHECK(refusal({file("a", "123"), file("b", "456"), file("c", "")}) == "accepted");
    CHECK(refusal({file("a", "123"), file("b", "4567")}) == "package holds more than 6 bytes");
    CHECK(refusal({file("a"), file("b"), file("c"), file("d")}) == "package has more than 3 entries");
    CHECK(refusal({file("manifest.yaml", "1234")}) == "accepted");
    CHECK(refusal({file("manifest.yaml", "12345")}) == "entry 'manifest.yaml' is larger than 4 bytes");
    limits = {};
    CHECK(refusal({file(std::string(4097, 'x'))}) ==
          "entry '" + std::string(64, 'x') + "' has too long a name");
    std::string deep = "x";
    for (int i = 0; i < 64; ++i) deep = "d/" + deep;
    CHECK_THAT(refusal({file(deep)}), Catch::EndsWith("has too long a name"));
    CHECK(refusal({file(deep.substr(2))}) == "accepted");
}

TEST_CASE_METHOD(Fixture, "a package may not unpack to very much more than it is") {
    limits.expansion = {.always = 1000, .max_times = 2};
    CHECK(refusal({file("a", std::string(1000, 'a'))}) == "accepted");
    CHECK(refusal({file("a", std::string(1000, 'a')), file("b", "1")}) ==
          "archive unpacks to more than 2 times its size");
    limits.expansion.max_times = 100;
    CHECK(refusal({file("a", std::string(1000, 'a')), file("b", "1")}) == "accepted");
}

TEST_CASE_METHOD(Fixture, "reading a package can be stopped") {
    build_archive(package, usual, ARCHIVE_FILTER_BZIP2);
    std::stop_source source;
    source.request_stop();
    try {
        list_package(package, {}, source.get_token());
        FAIL("it was read");
    } catch (const Error& e) {
        CHECK(e.code() == ErrorCode::cancelled);
    }
}
