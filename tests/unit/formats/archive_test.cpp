#include "libsvc/formats/archive.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "tests/unit/formats/archive_fixture.h"

using namespace svc::test;

TEST_CASE("an archive of every compression is told and unpacked") {
    for (const auto& [filter, compression] : compressions) {
        ArchiveFixture f;
        const std::string content = svc::to_hex(svc::random_bytes(300'000));
        const auto result =
            f.unpack({file("metadata.yaml"), top, file("./rootfs/etc/deep/file", content)}, filter);
        CHECK(svc::detect_compression(f.archive) == compression);
        CHECK(svc::read_file(f.target / "etc/deep/file") == content);
        CHECK(result.entries == 2);
        CHECK(result.bytes == content.size());
        CHECK_FALSE(fs::exists(f.target / "metadata.yaml"));
    }
}

TEST_CASE("what is no archive is told") {
    ArchiveFixture f;
    svc::write_file_atomically(f.archive, std::string(2000, 'x'));
    CHECK(svc::detect_compression(f.archive) == svc::Compression::unknown);
    CHECK_THROWS_AS(svc::unpack_archive(f.archive, f.target, f.options), svc::Error);
    build_archive(f.archive, {top}, ARCHIVE_FILTER_LZ4);
    CHECK(svc::detect_compression(f.archive) == svc::Compression::unknown);
    CHECK_THROWS_WITH(svc::unpack_archive(f.archive, f.target, f.options),
                      "archive is malformed: it is no tarball, or its compression is unknown");
    svc::write_file_atomically(f.archive, "");
    CHECK(svc::detect_compression(f.archive) == svc::Compression::unknown);
    CHECK_THROWS_AS(svc::unpack_archive(f.archive, f.target, f.options), svc::Error);
}

TEST_CASE("modes, times, links and unusual names are kept") {
    ArchiveFixture f;
    f.unpack({{.path = "rootfs/", .type = AE_IFDIR, .mode = 0750},
              {.path = "rootfs/bin/su", .content = "su", .mode = 04755},
              {.path = "rootfs/locked", .type = AE_IFDIR, .mode = 0500},
              file("rootfs/locked/inside"),
              soft_link("rootfs/etc/mtab", "/proc/self/mounts"),
              hard_link("rootfs/bin/sudo", "rootfs/bin/su"),
              {.path = "rootfs/run/pipe", .type = AE_IFIFO, .mode = 0620},
              {.path = "rootfs/tmp", .type = AE_IFDIR, .mode = 01777},
              file("rootfs/o\xCC\x88 \xC3\xB6"),
              file("rootfs/latin1-\xE4")});
    CHECK((f.info("").st_mode & 07777U) == 0750);
    CHECK((f.info("bin").st_mode & 07777U) == 0755);  // nobody described it
    CHECK((f.info("bin/su").st_mode & 07777U) == 04755);
    CHECK(f.info("bin/su").st_ino == f.info("bin/sudo").st_ino);
    CHECK((f.info("locked").st_mode & 07777U) == 0500);
    CHECK(f.info("locked").st_mtim.tv_sec == 1700000000);
    CHECK(f.info("locked/inside").st_mtim.tv_sec == 1700000000);
    CHECK(fs::read_symlink(f.target / "etc/mtab") == "/proc/self/mounts");
    CHECK(S_ISFIFO(f.info("run/pipe").st_mode));
    CHECK((f.info("run/pipe").st_mode & 07777U) == 0620);
    CHECK((f.info("tmp").st_mode & 07777U) == 01777);
    CHECK(fs::exists(f.target / "o\xCC\x88 \xC3\xB6"));  // decomposed stays decomposed
    CHECK(fs::exists(f.target / "latin1-\xE4"));
}

TEST_CASE("a later entry replaces a file but no directory") {
    ArchiveFixture f;
    f.unpack({top, file("rootfs/a", "old"), soft_link("rootfs/l", "a"), file("rootfs/a", "new"),
              file("rootfs/l", "own")});
    CHECK(svc::read_file(f.target / "a") == "new");
    CHECK(svc::read_file(f.target / "l") == "own");
    const ArchiveItem directory{.path = "rootfs/d", .type = AE_IFDIR, .mode = 0755};
    CHECK(f.refusal({top, directory, file("rootfs/d")}) == "entry 'd' takes the place of a directory");
    CHECK(f.refusal({top, soft_link("rootfs/d", "/tmp"), directory}) ==
          "entry 'd' is a directory in the place of something else");
}

TEST_CASE("hard links stay within the tree") {
    ArchiveFixture f;
    svc::write_file_atomically(f.tmp.path() / "outside", "kept");
    CHECK(f.refusal({top, file("other/x"), hard_link("rootfs/h", "other/x")}) ==
          "entry 'rootfs/h' is a hard link that leaves the tree");
    CHECK(f.refusal({top, hard_link("rootfs/h", "../outside")}) == "entry 'rootfs/h' has '..' in its name");
    CHECK(f.refusal({top, hard_link("rootfs/h", "/etc/passwd")}) == "entry 'rootfs/h' has an absolute name");
    CHECK(f.refusal({top, soft_link("rootfs/l", ".."), hard_link("rootfs/h", "rootfs/l/outside")}) ==
          "entry 'h' lies beneath a symbolic link");
    CHECK(f.refusal({top, hard_link("rootfs/h", "rootfs/none")}) == "entry 'h' is a hard link to nothing");
    CHECK(f.refusal({top, hard_link("rootfs/h", "rootfs/h")}) == "entry 'h' is a hard link to itself");
    const ArchiveItem directory{.path = "rootfs/d", .type = AE_IFDIR, .mode = 0755};
    CHECK(f.refusal({top, directory, hard_link("rootfs/h", "rootfs/d")}) ==
          "entry 'h' is a hard link to a directory");
    // A link to a link is that link, not what it points to.
    f.options.subtree = "rootfs";
    CHECK(f.refusal({top, soft_link("rootfs/l", (f.tmp.path() / "outside").native()),
                     hard_link("rootfs/h", "rootfs/l")}) == "accepted");
    CHECK(fs::is_symlink(f.target / "h"));
}

TEST_CASE("the subtree is there once and is a directory") {
    ArchiveFixture f;
    CHECK(f.refusal({file("metadata.yaml")}) == "archive has no directory 'rootfs'");
    CHECK(f.refusal({top, file("rootfs/a"), {.path = "./rootfs", .type = AE_IFDIR}}) ==
          "entry './rootfs/' appears twice");
    CHECK(f.refusal({soft_link("rootfs", "/")}) == "entry 'rootfs' is not a directory");
    CHECK(f.refusal({top, soft_link("rootfs", "/")}) == "entry 'rootfs' is not a directory");
    CHECK(f.refusal({file("rootfs")}) == "entry 'rootfs' is not a directory");
    CHECK(f.refusal({file("rootfs2/a")}) == "archive has no directory 'rootfs'");
    CHECK(f.refusal({file("rootfs/only/file")}) == "accepted");
}

TEST_CASE("an archive is unpacked without root") {
    ArchiveFixture f;
    build_archive(f.archive, {top,
                              {.path = "rootfs/a", .content = "x", .mode = 04755, .uid = 33},
                              {.path = "rootfs/closed", .type = AE_IFDIR, .mode = 0},
                              file("rootfs/closed/in"),
                              {.path = "rootfs/pipe", .type = AE_IFIFO},
                              hard_link("rootfs/b", "rootfs/a")});
    fs::permissions(f.tmp.path(), fs::perms::all);
    fs::permissions(f.target, fs::perms::all);
    const bool root = ::geteuid() == 0;
    if (root) REQUIRE(::chown(f.target.c_str(), 65534, 65534) == 0);
    const pid_t child = ::fork();
    if (child == 0) {
        if (root && (::setgid(65534) != 0 || ::setuid(65534) != 0)) ::_exit(2);
        try {
            svc::unpack_archive(f.archive, f.target, f.options);
            ::_exit(0);
        } catch (const std::exception& e) {
            ::write(2, e.what(), std::strlen(e.what()));
            ::_exit(1);
        }
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    CHECK((f.info("a").st_mode & 07777U) == 04755);
    CHECK(f.info("a").st_nlink == 2);
    CHECK((f.info("closed").st_mode & 07777U) == 0);
    fs::permissions(f.target / "closed", fs::perms::all);
}

TEST_CASE("a sparse file keeps its size and its holes") {
    ArchiveFixture f;
    archive* const writer = archive_write_new();
    archive_write_set_format_pax(writer);
    REQUIRE(archive_write_open_filename(writer, f.archive.c_str()) == ARCHIVE_OK);
    archive_entry* const entry = archive_entry_new();
    fill_entry(entry, {.path = "rootfs/sparse"});
    archive_entry_set_size(entry, 100 << 20);
    archive_entry_sparse_add_entry(entry, 50 << 20, 4096);
    REQUIRE(archive_write_header(writer, entry) == ARCHIVE_OK);
    const std::string zeros(1 << 20, '\0');
    for (int i = 0; i < 100; ++i) {
        std::string part = zeros;
        if (i == 50) part.replace(0, 4096, 4096, 'd');
        archive_write_data(writer, part.data(), part.size());
    }
    archive_entry_free(entry);
    archive_write_close(writer);
    archive_write_free(writer);

    svc::unpack_archive(f.archive, f.target, f.options);
    const struct stat info = f.info("sparse");
    CHECK(info.st_size == 100 << 20);
    CHECK(info.st_blocks * 512 < 1 << 20);
    const svc::FileDescriptor sparse = svc::open_file(f.target / "sparse", O_RDONLY);
    char byte = 0;
    CHECK(::pread(sparse.get(), &byte, 1, 50 << 20) == 1);
    CHECK(byte == 'd');
    f.options.limits.max_bytes = 50 << 20;
    fs::remove(f.target / "sparse");
    CHECK_THROWS_AS(svc::unpack_archive(f.archive, f.target, f.options), svc::Error);
}

TEST_CASE("unpacking stops on request and tells its progress") {
    ArchiveFixture f;
    std::vector<ArchiveItem> items{top};
    for (int i = 0; i < 8; ++i)
        items.push_back(file("rootfs/f" + std::to_string(i), svc::random_bytes(2 << 20)));
    std::vector<std::uint64_t> told;
    f.options.progress = [&](std::uint64_t bytes, std::uint64_t total) {
        CHECK(total == fs::file_size(f.archive));
        told.push_back(bytes);
    };
    f.unpack(items);
    CHECK(told.size() >= 3);
    CHECK(std::is_sorted(told.begin(), told.end()));
    CHECK(told.back() == fs::file_size(f.archive));

    std::stop_source source;
    f.options.stop = source.get_token();
    f.options.progress = [&](std::uint64_t, std::uint64_t) { source.request_stop(); };
    try {
        svc::unpack_archive(f.archive, f.target, f.options);
        FAIL("did not stop");
    } catch (const svc::Error& e) {
        CHECK(e.code() == svc::ErrorCode::cancelled);
    }
}

TEST_CASE("one member is read without unpacking") {
    ArchiveFixture f;
    bool all = false;
    build_archive(f.archive, {top, file("./metadata.yaml", "a: 1"), file("rootfs/metadata.yaml", "no")},
                  ARCHIVE_FILTER_GZIP);
    CHECK(svc::read_archive_member(f.archive, "metadata.yaml", 100, 1 << 20, &all) == "a: 1");
    CHECK(all);
    CHECK_FALSE(svc::read_archive_member(f.archive, "absent", 100, 1 << 20, &all));
    CHECK(all);
    CHECK_THROWS_AS(svc::read_archive_member(f.archive, "metadata.yaml", 3, 1 << 20, &all), svc::Error);
}

TEST_CASE("a search for a member ends at its limit and sees duplicates before it") {
    ArchiveFixture f;
    bool all = true;
    build_archive(f.archive, {file("big", std::string(1 << 20, 'x')), file("m", "1")});
    CHECK_FALSE(svc::read_archive_member(f.archive, "m", 100, 1 << 19, &all));
    CHECK_FALSE(all);
    build_archive(f.archive, {file("m", "1"), file("big", std::string(1 << 20, 'x')), file("m", "2")});
    CHECK(svc::read_archive_member(f.archive, "m", 100, 1 << 19, &all) == "1");
    CHECK_FALSE(all);
    CHECK_THROWS_AS(svc::read_archive_member(f.archive, "m", 100, 1 << 22, &all), svc::Error);
    build_archive(f.archive, {soft_link("m", "/etc/passwd")});
    CHECK_THROWS_AS(svc::read_archive_member(f.archive, "m", 100, 1 << 22, nullptr), svc::Error);
}
