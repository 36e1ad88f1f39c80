// What every BlobStore keeps to. A new implementation is one more row of `blob_stores`.
#include <catch2/catch.hpp>
#include <filesystem>
#include <functional>
#include <memory>
#include <thread>

#include "libsvc/base/digest.h"
#include "libsvc/base/file.h"
#include "libsvc/blobs/dir_blob_store.h"
#include "libsvc/cluster/cluster_blobs.h"
#include "tests/support/error_code.h"
#include "tests/support/fake_membership.h"
#include "tests/support/manager_machine.h"

namespace svc {
namespace {

using test::code_of;

struct BlobStoreKind {
    std::string name;
    std::function<std::unique_ptr<BlobStore>(const std::filesystem::path& directory, std::uint64_t max_bytes)>
        open;
};

std::unique_ptr<BlobStore> open_directory(const std::filesystem::path& directory, std::uint64_t max_bytes) {
    return std::make_unique<DirBlobStore>(
        DirBlobStoreOptions{.root = directory / "blobs", .reserve_bytes = 0, .max_blob_bytes = max_bytes});
}

// The leader of three managers.
class BlobsOfCluster final : public BlobStore {
  public:
    BlobsOfCluster(const std::filesystem::path& directory, std::uint64_t max_bytes)
        : identity_(test::make_peer_identity(directory)),
          second_("m2", identity_),
          third_("m3", identity_),
          local_(open_directory(directory, max_bytes)),
          all_(*local_, membership_, identity_) {
        membership_.join(second_.self);
        membership_.join(third_.self);
        membership_.lead(Leader{"id-m1", 1});
    }
    std::unique_ptr<BlobWriter> create(std::uint64_t size) override { return all_.create(size); }
    ScratchFile scratch() override { return all_.scratch(); }
    std::filesystem::path path(std::string_view digest) override { return all_.path(digest); }
    bool contains(std::string_view digest) override { return all_.contains(digest); }
    void remove(std::string_view digest) override { all_.remove(digest); }
    std::vector<BlobInfo> list() override { return all_.list(); }

  private:
    PeerIdentity identity_;
    test::FakeMembership membership_{Manager{"id-m1", "m1", "127.0.0.1:1", "1", 1}};
    test::ManagerMachine second_, third_;
    std::unique_ptr<BlobStore> local_;
    ClusterBlobs all_;
};

std::vector<BlobStoreKind> blob_stores() {
    return {{"directory", open_directory}, {"cluster", [](const auto& directory, std::uint64_t max_bytes) {
                                                return std::make_unique<BlobsOfCluster>(directory, max_bytes);
                                            }}};
}

constexpr std::uint64_t limit = 1000;

struct Fixture {
    explicit Fixture(const BlobStoreKind& kind)
        : directory(std::filesystem::temp_directory_path()), blobs(kind.open(directory.path(), limit)) {}
    TemporaryDirectory directory;
    std::unique_ptr<BlobStore> blobs;
};

std::string store(BlobStore& blobs, std::string_view content) {
    const auto writer = blobs.create(content.size());
    writer->write(content);
    const BlobInfo info = writer->finish();
    writer->commit();
    return info.digest;
}

#define EVERY_BLOB_STORE(blobs)                                     \
    const BlobStoreKind kind = GENERATE(from_range(blob_stores())); \
    INFO(kind.name);                                                \
    const Fixture fixture(kind);                                    \
    BlobStore& blobs = *fixture.blobs

TEST_CASE("a blob is found by the digest of its content") {
    EVERY_BLOB_STORE(blobs);
    const auto writer = blobs.create(0);
    writer->write("hello ");
    writer->write("");
    writer->write("world");
    const BlobInfo info = writer->finish();
    CHECK(info.digest == sha256_hex("hello world"));
    CHECK(info.size == 11);
    writer->commit();
    CHECK(blobs.contains(info.digest));
    CHECK(read_file(blobs.path(info.digest)) == "hello world");
}

TEST_CASE("a finished blob can be read, but is visible only when committed") {
    EVERY_BLOB_STORE(blobs);
    const auto writer = blobs.create(5);
    writer->write("bytes");
    const BlobInfo info = writer->finish();
    CHECK(read_file(writer->path()) == "bytes");
    CHECK_FALSE(blobs.contains(info.digest));
    CHECK(blobs.list().empty());
    CHECK(code_of([&] { blobs.path(info.digest); }) == ErrorCode::not_found);
    writer->commit();
    CHECK(blobs.list().size() == 1);
    CHECK(read_file(writer->path()) == "bytes");
}

TEST_CASE("a writer that is given up leaves nothing") {
    EVERY_BLOB_STORE(blobs);
    std::filesystem::path path;
    {
        const auto writer = blobs.create(5);
        writer->write("bytes");
        writer->finish();
        path = writer->path();
        REQUIRE(std::filesystem::exists(path));
    }
    CHECK_FALSE(std::filesystem::exists(path));
    CHECK(blobs.list().empty());
}

TEST_CASE("the same content twice is one blob") {
    EVERY_BLOB_STORE(blobs);
    const std::string digest = store(blobs, "same");
    CHECK(store(blobs, "same") == digest);
    CHECK(blobs.list().size() == 1);
    CHECK(read_file(blobs.path(digest)) == "same");
}

TEST_CASE("the same content from several threads is one blob") {
    EVERY_BLOB_STORE(blobs);
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 8; ++i) threads.emplace_back([&blobs] { store(blobs, "same"); });
    }
    CHECK(blobs.list().size() == 1);
    CHECK(read_file(blobs.path(sha256_hex("same"))) == "same");
}

TEST_CASE("an empty blob is a blob") {
    EVERY_BLOB_STORE(blobs);
    CHECK(read_file(blobs.path(store(blobs, ""))).empty());
}

TEST_CASE("a removed blob is gone, and removing it again is fine") {
    EVERY_BLOB_STORE(blobs);
    const std::string digest = store(blobs, "bytes");
    blobs.remove(digest);
    blobs.remove(digest);
    CHECK_FALSE(blobs.contains(digest));
    CHECK(blobs.list().empty());
}

TEST_CASE("blobs are listed by digest with their sizes") {
    EVERY_BLOB_STORE(blobs);
    for (const std::string content : {"a", "bb", "ccc", "dddd"}) store(blobs, content);
    const auto list = blobs.list();
    REQUIRE(list.size() == 4);
    CHECK(std::is_sorted(list.begin(), list.end(),
                         [](const auto& a, const auto& b) { return a.digest < b.digest; }));
    for (const auto& blob : list) CHECK(read_file(blobs.path(blob.digest)).size() == blob.size);
}

TEST_CASE("what is no digest names no blob") {
    EVERY_BLOB_STORE(blobs);
    for (const std::string text : {"", "x", "../../etc/passwd", "ABCDEF"}) {
        CHECK_FALSE(blobs.contains(text));
        CHECK(code_of([&] { blobs.path(text); }) == ErrorCode::not_found);
        blobs.remove(text);
    }
}

TEST_CASE("a blob of the largest size is taken, a larger one refused") {
    EVERY_BLOB_STORE(blobs);
    store(blobs, std::string(limit, 'x'));
    CHECK(code_of([&] { blobs.create(limit + 1); }) == ErrorCode::invalid_argument);
    const auto writer = blobs.create(0);
    writer->write(std::string(limit, 'y'));
    CHECK(code_of([&] { writer->write("y"); }) == ErrorCode::invalid_argument);
}

TEST_CASE("a scratch file gives back what it was given, and is no blob") {
    EVERY_BLOB_STORE(blobs);
    ScratchFile file = blobs.scratch();
    file.write(std::string(limit, 'x'));
    file.write("y");
    CHECK(file.read(2 * limit) == std::string(limit, 'x') + "y");
    CHECK(blobs.list().empty());
}

TEST_CASE("a blob that is not finished cannot be committed") {
    EVERY_BLOB_STORE(blobs);
    const auto writer = blobs.create(5);
    writer->write("bytes");
    CHECK(code_of([&] { writer->commit(); }) == ErrorCode::internal);
    writer->finish();
    CHECK(code_of([&] { writer->write("more"); }) == ErrorCode::internal);
}

}  // namespace
}  // namespace svc
