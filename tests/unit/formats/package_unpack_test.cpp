#include "libsvc/formats/package_unpack.h"

#include <archive.h>
#include <archive_entry.h>
#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "tests/support/error_code.h"

namespace svc {
namespace {

namespace fs = std::filesystem;

struct Entry {
    std::string path;
    unsigned type = AE_IFREG;
    std::string content;  // of a link: where it leads
    unsigned mode = 0644;
    bool hard_link = false;
};

void add(archive* writer, const Entry& entry) {
    archive_entry* const made = archive_entry_new();
    archive_entry_set_pathname(made, entry.path.c_str());
    archive_entry_set_filetype(made, entry.type);
    archive_entry_set_perm(made, entry.mode);
    archive_entry_set_uid(made, 4242);
    if (entry.type == AE_IFLNK) archive_entry_set_symlink(made, entry.content.c_str());
    if (entry.hard_link) archive_entry_set_hardlink(made, entry.content.c_str());
    const bool filled = entry.type == AE_IFREG && !entry.hard_link;
    if (filled) archive_entry_set_size(made, static_cast<la_int64_t>(entry.content.size()));
    REQUIRE(archive_write_header(writer, made) == ARCHIVE_OK);
    if (filled) archive_write_data(writer, entry.content.data(), entry.content.size());
    archive_entry_free(made);
}

// Where packages are made and unpacked.
class Bench {
  public:
    fs::path target() const { return directory_.path() / "target"; }
    void make(const std::vector<Entry>& entries, bool zip = false) const {
        archive* const writer = archive_write_new();
        if (zip) {
            archive_write_set_format_zip(writer);
        } else {
            archive_write_set_format_pax_restricted(writer);
            archive_write_add_filter_bzip2(writer);
        }
        REQUIRE(archive_write_open_filename(writer, package().c_str()) == ARCHIVE_OK);
        for (const Entry& entry : entries) add(writer, entry);
        archive_write_close(writer);
        archive_write_free(writer);
    }
    void unpack(const PackageUnpackLimits& limits = {}) const {
        remove_tree(target());
        make_directories(target());
        unpack_package(package(), target(), limits);
    }
    std::string message() const {
        return test::message_of([this] { unpack(); });
    }
    fs::path package() const { return directory_.path() / "package"; }

  private:
    TemporaryDirectory directory_{fs::temp_directory_path(), "unpack-"};
};

TEST_CASE("both kinds of packages are unpacked with modes and as our own files") {
    const bool zip = GENERATE(false, true);
    const Bench bench;
    bench.make({{"manifest.yaml", AE_IFREG, "name: x\n"},
                {"hooks/", AE_IFDIR, "", 0500},
                {"hooks/install", AE_IFREG, "#!/bin/sh\n", 06755},
                {"./deep/er/file", AE_IFREG, std::string(300000, 'x')}},
               zip);
    bench.unpack();
    CHECK(read_file(bench.target() / "manifest.yaml") == "name: x\n");
    CHECK(read_file(bench.target() / "deep/er/file") == std::string(300000, 'x'));
    struct stat info {};
    REQUIRE(::stat((bench.target() / "hooks/install").c_str(), &info) == 0);
    CHECK((info.st_mode & 07777U) == 0755);
    CHECK(info.st_uid == ::geteuid());
    REQUIRE(::stat((bench.target() / "hooks").c_str(), &info) == 0);
    CHECK((info.st_mode & 07777U) == 0700);
}

TEST_CASE("links within a package are kept") {
    const Bench bench;
    bench.make({{"data/file", AE_IFREG, "text"},
                {"data/link", AE_IFLNK, "../data/file"},
                {"same", AE_IFREG, "data/file", 0644, true}});
    bench.unpack();
    CHECK(fs::read_symlink(bench.target() / "data/link") == "../data/file");
    CHECK(fs::equivalent(bench.target() / "same", bench.target() / "data/file"));
}

TEST_CASE("what would leave the package is refused") {
    const auto [entry, message] = GENERATE(table<Entry, std::string>({
        {{"/etc/passwd", AE_IFREG, "x"}, "has an absolute name"},
        {{"a/../../x", AE_IFREG, "x"}, "has '..' in its name"},
        {{"link", AE_IFLNK, "/etc"}, "is a link that leaves the package"},
        {{"a/link", AE_IFLNK, "../../x"}, "is a link that leaves the package"},
        {{"hard", AE_IFREG, "../x", 0644, true}, "has '..' in its name"},
        {{"hard", AE_IFREG, "absent", 0644, true}, "is a hard link to nothing"},
        {{"fifo", AE_IFIFO, ""}, "is neither a file, a directory nor a link"},
        {{"device", AE_IFCHR, ""}, "is neither a file, a directory nor a link"},
    }));
    const Bench bench;
    bench.make({entry});
    CHECK_THAT(bench.message(), Catch::Contains(message));
}

TEST_CASE("nothing is written through a link of the package") {
    const Bench bench;
    bench.make({{"data", AE_IFDIR, "", 0755}, {"link", AE_IFLNK, "data"}, {"link/file", AE_IFREG, "x"}});
    CHECK_THAT(bench.message(), Catch::Contains("lies beneath a symbolic link"));
    CHECK_FALSE(fs::exists(bench.target() / "data/file"));
}

TEST_CASE("limits of what is unpacked, broken bytes, and the wish to stop") {
    const Bench bench;
    bench.make({{"a", AE_IFREG, "12345"}, {"b", AE_IFREG, "67890"}});
    CHECK(test::code_of([&] { bench.unpack({1, 100}); }) == ErrorCode::invalid_argument);
    CHECK(test::code_of([&] { bench.unpack({2, 9}); }) == ErrorCode::invalid_argument);
    CHECK_NOTHROW(bench.unpack({2, 10}));
    std::stop_source stop;
    stop.request_stop();
    CHECK(test::code_of([&] { unpack_package(bench.package(), bench.target(), {}, stop.get_token()); }) ==
          ErrorCode::cancelled);
    const std::string whole = read_file(bench.package());
    write_file_atomically(bench.package(), whole.substr(0, whole.size() / 2));
    CHECK_THAT(bench.message(), Catch::Contains("malformed"));
    write_file_atomically(bench.package(), "PK and then nothing");
    CHECK_THAT(bench.message(), Catch::Contains("malformed"));
}

}  // namespace
}  // namespace svc
