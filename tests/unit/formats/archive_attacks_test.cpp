// Tar archives that no tar program writes: headers, sizes, names and sparse files that lie.
#include <sys/xattr.h>

#include <limits>

#include "libsvc/base/digest.h"
#include "tests/support/error_code.h"
#include "tests/support/skip.h"
#include "tests/unit/formats/archive_fixture.h"
#include "tests/unit/formats/raw_tar.h"

using namespace svc::test;
using Catch::Contains;
using Catch::StartsWith;

namespace {

const std::string raw_top = raw_entry({.name = "rootfs/", .type = '5', .mode = "755"});
constexpr auto largest = std::numeric_limits<std::int64_t>::max();

// Unpacks raw bytes of a tarball. The message of the refusal, or "accepted".
std::string raw_refusal(ArchiveFixture& f, const std::string& bytes) {
    svc::remove_tree(f.target);
    fs::create_directory(f.target);
    svc::write_file_atomically(f.archive, bytes);
    const std::string message = message_of([&] { svc::unpack_archive(f.archive, f.target, f.options); });
    return message.empty() ? "accepted" : message;
}

std::string refusal_of(const std::string& entries) {
    ArchiveFixture f;
    return raw_refusal(f, raw_top + entries + raw_end);
}

std::string sparse_1_0(const std::string& size, const std::string& map) {
    return pax(pax_record("GNU.sparse.major", "1") + pax_record("GNU.sparse.minor", "0") +
               pax_record("GNU.sparse.name", "rootfs/s") + pax_record("GNU.sparse.realsize", size)) +
           raw_entry({.name = "rootfs/GNUSparseFile/s"}, padded(map));
}

}  // namespace

TEST_CASE("a file cannot be larger than it may, however its size is written") {
    const std::string huge = std::to_string(largest);
    CHECK_THAT(refusal_of(sparse_1_0(huge, "0\n")), StartsWith("archive "));
    CHECK_THAT(refusal_of(pax(pax_record("GNU.sparse.size", huge) + pax_record("GNU.sparse.numblocks", "1") +
                              pax_record("GNU.sparse.map", "0,1")) +
                          raw_entry({.name = "rootfs/s"}, "x")),
               StartsWith("archive "));
    std::string old = raw_header({.name = "rootfs/s", .type = 'S', .gnu = true});
    old.replace(483, 12, binary_number(largest, 12));
    seal(old);
    CHECK_THAT(refusal_of(old), StartsWith("archive "));
    CHECK_THAT(refusal_of(raw_header({.name = "rootfs/f", .size = binary_number(largest, 12)})),
               StartsWith("archive "));
    CHECK_THAT(refusal_of(pax(pax_record("size", huge)) + raw_entry({.name = "rootfs/f"}, "x")),
               StartsWith("archive "));
}

TEST_CASE("sizes that do not fit into 64 bits together are not taken for small ones") {
    const std::string half = std::to_string(largest / 2 + 1);
    ArchiveFixture f;
    f.options.limits.max_bytes = std::numeric_limits<std::uint64_t>::max();
    f.options.limits.expansion.always = std::numeric_limits<std::uint64_t>::max();
    std::string entries = raw_top;
    for (int i = 0; i < 5; ++i)
        entries += pax(pax_record("GNU.sparse.major", "1") + pax_record("GNU.sparse.minor", "0") +
                       pax_record("GNU.sparse.name", "other/s" + std::to_string(i)) +
                       pax_record("GNU.sparse.realsize", half)) +
                   raw_entry({.name = "other/s"}, padded("0\n"));
    CHECK_THAT(raw_refusal(f, entries + raw_end), StartsWith("archive holds more than"));
}

TEST_CASE("negative and overflowing sizes are refused") {
    for (const std::string& size :
         {binary_number(-1, 12), binary_number(-512, 12), std::string("-1"), std::string("777777777777")})
        CHECK_THAT(refusal_of(raw_header({.name = "rootfs/f", .size = size}) + padded("x")),
                   StartsWith("archive "));
    for (const char* size : {"-1", "-9223372036854775808", "99999999999999999999999", "18446744073709551615"})
        CHECK_THAT(refusal_of(pax(pax_record("size", size)) + raw_entry({.name = "rootfs/f"}, "x")),
                   StartsWith("archive "));
}

TEST_CASE("a pax header tells size and name of the file, and its name leads nowhere else") {
    ArchiveFixture f;
    CHECK(raw_refusal(f, raw_top + pax(pax_record("size", "3") + pax_record("path", "rootfs/real")) +
                             raw_entry({.name = "rootfs/f", .size = "1"}, "abc") + raw_end) == "accepted");
    CHECK(svc::read_file(f.target / "real") == "abc");
    CHECK(refusal_of(pax(pax_record("path", "../x")) + raw_entry({.name = "rootfs/f"}, "x")) ==
          "entry '../x' has '..' in its name");
    CHECK(refusal_of(pax(pax_record("path", "/x")) + raw_entry({.name = "rootfs/f"}, "x")) ==
          "entry '/x' has an absolute name");
    CHECK(refusal_of(pax(pax_record("linkpath", "../x")) +
                     raw_entry({.name = "rootfs/f", .type = '1', .link = "x"})) ==
          "entry 'rootfs/f' has '..' in its name");
    CHECK(refusal_of(pax(pax_record("GNU.sparse.name", "../x") + pax_record("GNU.sparse.major", "1") +
                         pax_record("GNU.sparse.minor", "0")) +
                     raw_entry({.name = "rootfs/f"}, padded("0\n"))) == "entry '../x' has '..' in its name");
}

TEST_CASE("a global header does not move the files that follow") {
    ArchiveFixture f;
    raw_refusal(f, pax(pax_record("path", "../../global"), 'g') + raw_top +
                       raw_entry({.name = "rootfs/f"}, "x") + raw_end);
    CHECK_FALSE(fs::exists(f.target.parent_path().parent_path() / "global"));
    CHECK_FALSE(fs::exists(f.tmp.path() / "global"));
}

TEST_CASE("what describes an entry is limited, whichever way it is written") {
    const std::string long_value(6U << 20, 'v');
    CHECK_THAT(refusal_of(pax(pax_record("comment", long_value)) + raw_entry({.name = "rootfs/f"}, "x")),
               StartsWith("archive is malformed: "));
    CHECK_THAT(refusal_of(raw_entry({.name = "././@LongLink", .type = 'L', .gnu = true}, long_value) +
                          raw_entry({.name = "rootfs/f"}, "x")),
               StartsWith("archive is malformed: "));
    CHECK_THAT(refusal_of(raw_header({.name = "././@LongLink",
                                      .type = 'K',
                                      .size = binary_number(std::int64_t{4} << 30, 12),
                                      .gnu = true})),
               StartsWith("archive is malformed: "));
    std::string many;
    for (int i = 0; i < 1000; ++i) many += pax(pax_record("comment", "x"));
    CHECK_THAT(refusal_of(many + raw_entry({.name = "rootfs/f"}, "x")), StartsWith("archive is malformed: "));
}

TEST_CASE("a sparse file with millions of holes is refused before they are remembered") {
    std::string old = raw_header({.name = "rootfs/s", .type = 'S', .size = octal(512), .gnu = true});
    for (int i = 0; i < 4; ++i)
        old.replace(386 + 24 * static_cast<std::size_t>(i), 24, "00000000000 00000000001 ");
    old[482] = 1;
    seal(old);
    std::string block(512, '\0');
    for (int i = 0; i < 21; ++i)
        block.replace(24 * static_cast<std::size_t>(i), 24, "00000000000 00000000001 ");
    block[504] = 1;
    std::string blocks;
    for (int i = 0; i < 900; ++i) blocks += block;
    CHECK_THAT(refusal_of(old + blocks), Contains("what describes an entry is larger than 256 KiB"));
    std::string map = "100000\n";
    for (int i = 0; i < 100'000; ++i) map += "0\n0\n";
    CHECK_THAT(refusal_of(sparse_1_0("1", map)), StartsWith("archive "));
}

TEST_CASE("long access lists do not keep a core busy") {
    const auto access_list = [](int users) {
        std::string list;
        for (int i = 0; i < users; ++i) list += "user:" + std::to_string(i) + ":r,";
        return pax(pax_record("SCHILY.acl.access", list)) + raw_entry({.name = "rootfs/f"}, "x");
    };
    CHECK(refusal_of(access_list(100)) == "accepted");
    CHECK_THAT(refusal_of(access_list(60'000)), Contains("what describes an entry is larger than 256 KiB"));
    std::string many;
    const std::string one =
        pax(pax_record("comment", std::string(200U << 10, 'c'))) + raw_entry({.name = "rootfs/f"});
    for (int i = 0; i < 400; ++i) many += one;
    CHECK_THAT(refusal_of(many), Contains("what describes its entries is larger than 64 MiB"));
}

TEST_CASE("no list of holes makes a sparse file longer than it says") {
    for (const char* map :
         {"1\n1000\n512\n", "1\n-1\n512\n", "2\n0\n512\n0\n512\n", "1\n9223372036854775807\n512\n",
          "1\n0\n9223372036854775807\n", "99999999999999999999\n", "x\n", ""}) {
        ArchiveFixture f;
        const std::string entry = sparse_1_0("100", padded(map) + std::string(1024, 'd'));
        if (raw_refusal(f, raw_top + entry + raw_end) == "accepted") CHECK(f.info("s").st_size == 100);
    }
}

TEST_CASE("owners that do not fit are refused") {
    for (const std::string& id : {binary_number(65536, 8), binary_number(-1, 8),
                                  binary_number(std::int64_t{1} << 32, 8), binary_number(largest, 8)}) {
        CHECK_THAT(refusal_of(raw_entry({.name = "rootfs/f", .uid = id})),
                   Contains("has an owner above 65535") || StartsWith("archive is malformed"));
        CHECK_THAT(refusal_of(raw_entry({.name = "rootfs/f", .gid = id})),
                   Contains("has an owner above 65535") || StartsWith("archive is malformed"));
    }
    for (const char* id : {"-1", "4294967296", "18446744073709551616"})
        CHECK_THAT(refusal_of(pax(pax_record("uid", id)) + raw_entry({.name = "rootfs/f"})),
                   Contains("has an owner above 65535") || StartsWith("archive is malformed"));
}

TEST_CASE("a file may be of any time") {
    for (const std::int64_t time : {largest, -largest, std::int64_t{1} << 40, std::int64_t{-1}}) {
        ArchiveFixture f;
        CHECK(raw_refusal(f, raw_top +
                                 raw_entry({.name = "rootfs/f", .mtime = binary_number(time, 12)}, "x") +
                                 raw_end) == "accepted");
        CHECK(fs::exists(f.target / "f"));
    }
    for (const char* time : {"1e400", "-99999999999999999999.5", "12.999999999999999999", "."})
        CHECK(refusal_of(pax(pax_record("mtime", time)) + raw_entry({.name = "rootfs/f"}, "x")) ==
              "accepted");
}

TEST_CASE("a name is no more than a name") {
    ArchiveFixture f;
    const std::string bytes("rootfs/new\nline \x1B[2J \xFF\xC0\x80");
    CHECK(raw_refusal(f, raw_top + raw_entry({.name = bytes}, "x") + raw_end) == "accepted");
    CHECK(fs::exists(f.target / bytes.substr(7)));
    // Messages stay short and printable.
    const std::string control = refusal_of(raw_entry({.name = "../\x1B[2J\xFF"}, "x"));
    CHECK(control == "entry '../\\x1B[2J\\xFF' has '..' in its name");
    const std::string long_name(64U << 10, 'n');
    CHECK_THAT(
        refusal_of(pax(pax_record("path", "rootfs/" + long_name)) + raw_entry({.name = "rootfs/f"}, "x")),
        Contains("has too long a name"));
    CHECK(
        refusal_of(pax(pax_record("path", "../" + long_name)) + raw_entry({.name = "rootfs/f"}, "x")).size() <
        300);
    std::string deep = "rootfs";
    for (int i = 0; i < 20'000; ++i) deep += "/d";
    CHECK_THAT(refusal_of(pax(pax_record("path", deep)) + raw_entry({.name = "rootfs/f"}, "x")),
               Contains("has too long a name"));
    // A name ends at a zero byte, in pax records, too.
    CHECK_FALSE(fs::exists(f.target / "cut"));
    CHECK_THAT(refusal_of(pax(pax_record("path", std::string("rootfs/cut\0/../../x", 19))) +
                          raw_entry({.name = "rootfs/f"}, "x")),
               StartsWith("archive is malformed") || Contains("accepted"));
    CHECK_THAT(refusal_of(pax(pax_record("hdrcharset", "ISO-IR 10646 2000 UTF-8") +
                              pax_record("path", "rootfs/\xFF")) +
                          raw_entry({.name = "rootfs/f"}, "x")),
               Contains("accepted"));
}

TEST_CASE("whiteouts of container formats are ordinary files, and those of the kernel are refused") {
    ArchiveFixture f;
    CHECK(raw_refusal(f, raw_top + raw_entry({.name = "rootfs/kept"}, "x") +
                             raw_entry({.name = "rootfs/.wh.kept"}) +
                             raw_entry({.name = "rootfs/.wh..wh..opq"}) + raw_end) == "accepted");
    CHECK(fs::exists(f.target / "kept"));
    CHECK(fs::exists(f.target / ".wh.kept"));
    CHECK(refusal_of(raw_entry({.name = "rootfs/w", .type = '3'})) == "device node 'rootfs/w' not allowed");
}

TEST_CASE("no attribute is set but those of users and capabilities") {
    skip_unless_root();
    ArchiveFixture f;
    std::string records;
    for (const char* name : {"trusted.overlay.opaque", "trusted.overlay.redirect", "trusted.overlay.metacopy",
                             "security.selinux", "security.ima", "security.evm", "system.posix_acl_access"})
        records += pax_record(std::string("SCHILY.xattr.") + name, "y");
    records += pax_record("SCHILY.acl.access", "user:0:rwx,user::rwx,group::r--,mask::rwx,other::rwx");
    records += pax_record("SCHILY.fflags", "immutable") + pax_record("RHT.security.selinux", "y");
    CHECK(raw_refusal(f, raw_top + pax(records) + raw_entry({.name = "rootfs/f"}, "x") + raw_end) ==
          "accepted");
    char names[1024];
    CHECK(::listxattr((f.target / "f").c_str(), names, sizeof names) == 0);
    CHECK_NOTHROW(fs::remove(f.target / "f"));  // not immutable
}

TEST_CASE("nothing hides behind the end of an archive") {
    ArchiveFixture f;
    const std::string one = raw_top + raw_entry({.name = "rootfs/a"}, "a");
    CHECK(raw_refusal(f, one + raw_end + std::string(9000, '\0')) == "accepted");
    CHECK(raw_refusal(f, one + raw_end + one + raw_end) == "archive is malformed: bytes follow its end");
    CHECK(raw_refusal(f, one + raw_end + std::string(1U << 20, '\0') + "x") ==
          "archive is malformed: bytes follow its end");
    CHECK(raw_refusal(f, one + raw_end + std::string(17U << 20, '\0')) ==
          "archive is malformed: bytes follow its end");
}

TEST_CASE("entries of one kind in the place of another are refused") {
    const auto entry = [](char type, const std::string& link = "") {
        return raw_entry({.name = "rootfs/e", .type = type, .link = link, .mode = "755"});
    };
    CHECK_THAT(refusal_of(entry('5') + entry('2', "/etc")), Contains("takes the place of a directory"));
    CHECK_THAT(refusal_of(entry('2', "/etc") + entry('5')), Contains("in the place of something else"));
    CHECK_THAT(refusal_of(entry('0') + raw_entry({.name = "rootfs/e/f"}, "x")),
               Contains("lies beneath a file"));
    CHECK_THAT(refusal_of(entry('2', ".") + raw_entry({.name = "rootfs/e/f"}, "x")),
               Contains("lies beneath a symbolic link"));
    CHECK_THAT(refusal_of(entry('2', "/etc/passwd") +
                          raw_entry({.name = "rootfs/h", .type = '1', .link = "rootfs/e/x"})),
               Contains("lies beneath a symbolic link"));
    for (const char type : {'3', '4'}) CHECK_THAT(refusal_of(entry(type)), Contains("not allowed"));
}
