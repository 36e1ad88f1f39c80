// Archives that would harm the tree that they are unpacked into.
#include <linux/capability.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstring>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "tests/support/skip.h"
#include "tests/unit/formats/archive_fixture.h"

using namespace svc::test;

TEST_CASE("entries that lead outside are refused and named") {
    ArchiveFixture f;
    fs::create_directory(f.tmp.path() / "outside");
    const std::string outside = (f.tmp.path() / "outside").native();
    CHECK(f.refusal({top, file("/etc/x")}) == "entry '/etc/x' has an absolute name");
    CHECK(f.refusal({top, file("rootfs/../../x")}) == "entry 'rootfs/../../x' has '..' in its name");
    CHECK(f.refusal({top, file("other/../../x")}) == "entry 'other/../../x' has '..' in its name");
    CHECK(f.refusal({top, soft_link("rootfs/l", outside), file("rootfs/l/x")}) ==
          "entry 'l/x' lies beneath a symbolic link");
    CHECK(f.refusal({top, soft_link("rootfs/l", "../outside"), file("rootfs/l/deep/er/x")}) ==
          "entry 'l/deep/er/x' lies beneath a symbolic link");
    CHECK(f.refusal({top, soft_link("rootfs/l", outside), {.path = "rootfs/l/d", .type = AE_IFDIR}}) ==
          "entry 'l/d' lies beneath a symbolic link");
    CHECK(f.refusal({top, file("rootfs/f"), file("rootfs/f/x")}) == "entry 'f/x' lies beneath a file");
    CHECK(fs::is_empty(f.tmp.path() / "outside"));
}

TEST_CASE("a file over a link to the outside replaces the link") {
    ArchiveFixture f;
    svc::write_file_atomically(f.tmp.path() / "outside", "kept");
    f.unpack({top, soft_link("rootfs/l", (f.tmp.path() / "outside").native()), file("rootfs/l", "new")});
    CHECK(svc::read_file(f.tmp.path() / "outside") == "kept");
    CHECK(svc::read_file(f.target / "l") == "new");
}

TEST_CASE("device nodes are refused in the tree and ignored elsewhere") {
    ArchiveFixture f;
    const ArchiveItem device{.path = "rootfs/dev/sda", .type = AE_IFBLK, .mode = 0600};
    CHECK(f.refusal({top, device}) == "device node 'rootfs/dev/sda' not allowed");
    CHECK(f.refusal({top, {.path = "rootfs/null", .type = AE_IFCHR}}) ==
          "device node 'rootfs/null' not allowed");
    CHECK(f.refusal({top, {.path = "dev/null", .type = AE_IFCHR}}) == "accepted");
}

TEST_CASE("entries and bytes are limited") {
    ArchiveFixture f;
    f.options.limits.max_entries = 3;
    CHECK(f.refusal({top, file("rootfs/a"), file("b")}) == "accepted");
    CHECK(f.refusal({top, file("rootfs/a"), file("b"), file("c")}) == "archive has more than 3 entries");
    f.options.limits = {.max_entries = 100, .max_bytes = 10};
    CHECK(f.refusal({top, file("rootfs/a", "12345"), file("b", "12345")}) == "accepted");
    CHECK(f.refusal({top, file("rootfs/a", "12345"), file("b", "123456")}) ==
          "archive holds more than 10 bytes");
}

TEST_CASE("an archive may not unpack to very much more than it is") {
    ArchiveFixture f;
    f.options.limits.expansion = {.always = 1 << 20, .max_times = 2};
    const std::string zeros(1 << 20, '\0');
    build_archive(f.archive, {top, file("rootfs/a", zeros)}, ARCHIVE_FILTER_GZIP);
    CHECK_NOTHROW(svc::unpack_archive(f.archive, f.target, f.options));
    build_archive(f.archive, {top, file("rootfs/b", zeros), file("c", "1")}, ARCHIVE_FILTER_GZIP);
    CHECK_THROWS_WITH(svc::unpack_archive(f.archive, f.target, f.options),
                      "archive unpacks to more than 2 times its size");
}

TEST_CASE("owners above 65535 are refused") {
    ArchiveFixture f;
    CHECK(f.refusal({top, {.path = "rootfs/a", .uid = 65536}}) ==
          "entry 'rootfs/a' has an owner above 65535");
    CHECK(f.refusal({top, {.path = "rootfs/a", .gid = 4294967295}}) ==
          "entry 'rootfs/a' has an owner above 65535");
}

TEST_CASE("owners are shifted") {
    skip_unless_root();
    ArchiveFixture f;
    f.options.id_shift = 1'000'000;
    CHECK(f.refusal({file("rootfs/sub/first"),
                     {.path = "rootfs/a", .content = "x", .mode = 06755, .uid = 33, .gid = 65535},
                     {.path = "rootfs/l", .type = AE_IFLNK, .uid = 7, .link = "a"}}) == "accepted");
    CHECK(f.info("a").st_uid == 1'000'033);
    CHECK(f.info("a").st_gid == 1'065'535);
    CHECK((f.info("a").st_mode & 07777U) == 06755);  // setuid bits survive the change of owner
    CHECK(f.info("l").st_uid == 1'000'007);
    CHECK(f.info("sub").st_uid == 1'000'000);
    CHECK(f.info("").st_uid == 1'000'000);
}

TEST_CASE("capabilities name the shifted root and other attributes are chosen") {
    skip_unless_root();
    ArchiveFixture f;
    f.options.id_shift = 100'000;
    vfs_cap_data capability{};
    capability.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE;
    capability.data[0].permitted = 1U << 10;
    const std::string value(reinterpret_cast<const char*>(&capability), sizeof capability);
    f.unpack({top,
              {.path = "rootfs/ping",
               .content = "x",
               .mode = 0755,
               .attributes = {
                   {"security.capability", value}, {"user.note", "hi"}, {"trusted.overlay.opaque", "y"}}}});
    vfs_ns_cap_data stored{};
    const std::string path = (f.target / "ping").native();
    REQUIRE(::getxattr(path.c_str(), "security.capability", &stored, sizeof stored) == XATTR_CAPS_SZ_3);
    CHECK(stored.magic_etc == (VFS_CAP_REVISION_3 | VFS_CAP_FLAGS_EFFECTIVE));
    CHECK(stored.rootid == 100'000);
    CHECK(stored.data[0].permitted == 1U << 10);
    CHECK(::getxattr(path.c_str(), "trusted.overlay.opaque", nullptr, 0) == -1);
    CHECK(f.refusal({top, {.path = "rootfs/bad", .attributes = {{"security.capability", "short"}}}}) ==
          "entry 'rootfs/bad' has malformed capabilities");
}

TEST_CASE("truncated and damaged archives are refused") {
    for (const auto& [filter, compression] : compressions) {
        ArchiveFixture f;
        const std::string content = svc::random_bytes(200'000);
        build_archive(f.archive, {top, file("rootfs/a", content), file("rootfs/b", content)}, filter);
        fs::resize_file(f.archive, fs::file_size(f.archive) / 2);
        try {
            svc::unpack_archive(f.archive, f.target, f.options);
            FAIL_CHECK("a truncated archive of compression " << svc::to_text(compression) << " was accepted");
        } catch (const svc::Error& e) {
            CHECK(e.code() == svc::ErrorCode::invalid_argument);
            CHECK(std::string(e.what()).starts_with("archive is malformed: "));
        }
    }
}
