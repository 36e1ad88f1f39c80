#include "libsvc/blobs/dir_blob_store.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <limits>
#include <thread>
#include <vector>

#include "libsvc/base/digest.h"
#include "libsvc/base/file.h"
#include "tests/support/error_code.h"
#include "tests/support/small_disk.h"

namespace svc {
namespace {

namespace fs = std::filesystem;

std::size_t files_below(const fs::path& path) {
    std::size_t count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(path)) count += entry.is_regular_file() ? 1 : 0;
    return count;
}

std::string store(BlobStore& blobs, std::string_view content) {
    const auto writer = blobs.create(content.size());
    writer->write(content);
    const std::string digest = writer->finish().digest;
    writer->commit();
    return digest;
}

TEST_CASE("opening sweeps what a crash left and keeps what was committed") {
    const TemporaryDirectory directory(fs::temp_directory_path());
    std::string digest;
    {
        DirBlobStore blobs({.root = directory.path() / "blobs"});
        digest = store(blobs, "kept");
    }
    std::ofstream(directory.path() / "blobs" / "incoming" / "half") << "of it";
    DirBlobStore blobs({.root = directory.path() / "blobs"});
    CHECK(files_below(directory.path()) == 1);
    CHECK(read_file(blobs.path(digest)) == "kept");
}

TEST_CASE("a damaged blob is replaced by the next upload of it") {
    const TemporaryDirectory directory(fs::temp_directory_path());
    DirBlobStore blobs({.root = directory.path()});
    const std::string digest = store(blobs, "content");
    fs::resize_file(blobs.path(digest), 3);
    store(blobs, "content");
    CHECK(read_file(blobs.path(digest)) == "content");
}

TEST_CASE(
    "a blob with other bytes of the same number is replaced by the next upload, and its readers go on") {
    const TemporaryDirectory directory(fs::temp_directory_path());
    DirBlobStore blobs({.root = directory.path()});
    const std::string digest = store(blobs, "content");
    std::ofstream(blobs.path(digest)) << "c0ntent";
    std::ifstream reader(blobs.path(digest));
    store(blobs, "content");
    CHECK(read_file(blobs.path(digest)) == "content");
    CHECK(std::string(std::istreambuf_iterator<char>(reader), {}) == "c0ntent");
    CHECK(files_below(directory.path()) == 1);
}

TEST_CASE("an upload that is announced larger than the free space is refused at once") {
    const TemporaryDirectory directory(fs::temp_directory_path());
    DirBlobStore blobs(
        {.root = directory.path(), .max_blob_bytes = std::numeric_limits<std::uint64_t>::max()});
    const std::string message = test::message_of([&] { blobs.create(std::uint64_t{1} << 60); });
    CHECK(message.starts_with("not enough space for an upload of 1152921504606846976 bytes: "));
    CHECK(message.ends_with(" free"));
}

TEST_CASE("a long blob keeps every byte") {
    const TemporaryDirectory directory(fs::temp_directory_path());
    DirBlobStore blobs({.root = directory.path()});
    std::string content((20U << 20) + 17, '\0');
    for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 31 >> 3);
    const auto writer = blobs.create(content.size());
    for (std::size_t at = 0; at < content.size(); at += 100'000)
        writer->write(std::string_view(content).substr(at, 100'000));
    CHECK(writer->finish().digest == sha256_hex(content));
    writer->commit();
    CHECK(read_file(blobs.path(sha256_hex(content)), 32U << 20) == content);
}

TEST_CASE("a store on a directory of several leaves the others' uploads alone") {
    const TemporaryDirectory directory(fs::temp_directory_path());
    DirBlobStore first({.root = directory.path(), .incoming = "incoming-1"});
    const auto writer = first.create(0);
    writer->write("bytes");
    DirBlobStore second({.root = directory.path(), .incoming = "incoming-2"});
    const std::string digest = writer->finish().digest;
    writer->commit();
    CHECK(read_file(second.path(digest)) == "bytes");
    CHECK(second.list().size() == 1);
}

TEST_CASE("two stores on one directory keep and remove the same blob at once, and it is whole or absent") {
    const TemporaryDirectory directory(fs::temp_directory_path());
    DirBlobStore first({.root = directory.path(), .incoming = "incoming-1"});
    DirBlobStore second({.root = directory.path(), .incoming = "incoming-2"});
    const std::string digest = sha256_hex("contested");
    {
        std::vector<std::jthread> threads;
        for (DirBlobStore* blobs : {&first, &second}) {
            threads.emplace_back([blobs] {
                for (int i = 0; i < 50; ++i) store(*blobs, "contested");
            });
            threads.emplace_back([blobs, digest] {
                for (int i = 0; i < 50; ++i) blobs->remove(digest);
            });
            threads.emplace_back([blobs] {
                for (int i = 0; i < 50; ++i) blobs->list();
            });
        }
    }
    store(first, "contested");
    CHECK(read_file(second.path(digest)) == "contested");
    second.remove(digest);
    CHECK(files_below(directory.path()) == 0);
}

TEST_CASE("a disk that gets full ends the upload and leaves nothing") {
    test::on_small_disk(4U << 20, [](const fs::path& disk) {
        DirBlobStore blobs({.root = disk, .reserve_bytes = 0});
        const auto code = test::code_of([&] {
            const auto writer = blobs.create(0);
            for (int i = 0; i < 100; ++i) writer->write(std::string(100'000, 'x'));
        });
        CHECK(code == ErrorCode::exhausted);
        CHECK(files_below(disk) == 0);
        store(blobs, "small");
        CHECK(blobs.list().size() == 1);
    });
}

TEST_CASE("an upload of unknown size stops at the reserve") {
    test::on_small_disk(40U << 20, [](const fs::path& disk) {
        DirBlobStore blobs({.root = disk, .reserve_bytes = 20U << 20});
        CHECK(test::code_of([&] { blobs.create(30U << 20); }) == ErrorCode::exhausted);
        const auto code = test::code_of([&] {
            const auto writer = blobs.create(0);
            for (int i = 0; i < 40; ++i) writer->write(std::string(1U << 20, 'x'));
        });
        CHECK(code == ErrorCode::exhausted);
        CHECK(free_bytes(disk) > (20U << 20));
    });
}

TEST_CASE("a scratch file has no name, and its bytes are read in order") {
    const TemporaryDirectory directory(fs::temp_directory_path());
    DirBlobStore blobs({.root = directory.path(), .reserve_bytes = 0});
    ScratchFile file = blobs.scratch();
    file.write("hello ");
    file.write("world");
    CHECK(files_below(directory.path()) == 0);
    CHECK(blobs.list().empty());
    CHECK(file.read(8) == "hello wo");
    ScratchFile moved = std::move(file);
    CHECK(moved.read(100) == "rld");
    CHECK(moved.read(100).empty());
}

TEST_CASE("a scratch file takes no bytes of the reserve, and gives back what it took") {
    test::on_small_disk(40U << 20, [](const fs::path& disk) {
        DirBlobStore blobs({.root = disk, .reserve_bytes = 20U << 20});
        {
            ScratchFile file = blobs.scratch();
            const auto fill = [&] {
                for (int i = 0; i < 40; ++i) file.write(std::string(1U << 20, 0));
            };
            CHECK_THAT(test::message_of(fill),
                       Catch::StartsWith("not enough space for a temporary file after 25165824 bytes: ") &&
                           Catch::EndsWith(" free, 20971520 kept in reserve"));
            CHECK(free_bytes(disk) < (20U << 20));
        }
        CHECK(free_bytes(disk) > (39U << 20));
        ScratchFile(disk, 0).write("small");
    });
    test::on_small_disk(4U << 20, [](const fs::path& disk) {
        ScratchFile file(disk, 0);
        CHECK(test::code_of([&] { file.write(std::string(8U << 20, 0)); }) == ErrorCode::exhausted);
    });
}

}  // namespace
}  // namespace svc
