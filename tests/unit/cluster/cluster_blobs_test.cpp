#include "libsvc/cluster/cluster_blobs.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <memory>
#include <thread>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "tests/support/error_code.h"
#include "tests/support/manager_machine.h"

namespace svc {
namespace {

using test::code_of;
using test::ManagerMachine;
using test::message_of;

// m1, whose packages are tested, m2 and m3. m1 leads.
struct BlobWorld {
    explicit BlobWorld(std::chrono::milliseconds patience = std::chrono::minutes(1))
        : identity(test::make_peer_identity(keys.path())) {
        for (const char* name : {"m1", "m2", "m3"})
            machines.push_back(std::make_unique<ManagerMachine>(name, identity));
        for (auto& machine : machines)
            for (const auto& other : machines) machine->membership.join(other->self);
        lead("m1", 1);
        blobs = std::make_unique<ClusterBlobs>(
            m(1).blobs, m(1).membership, identity,
            ClusterBlobsOptions{.patience = patience, .fetches_at_once = 2, .enter = [this](auto term) {
                                    return m(1).guard.enter(term);
                                }});
    }
    ManagerMachine& m(std::size_t number) { return *machines[number - 1]; }
    void lead(const std::string& name, std::uint64_t term) {
        for (auto& machine : machines) machine->membership.lead(Leader{"id-" + name, term});
    }
    std::size_t copies(const std::string& digest) {
        std::size_t count = 0;
        for (auto& machine : machines) count += machine->blobs.contains(digest) ? 1 : 0;
        return count;
    }

    TemporaryDirectory keys{std::filesystem::temp_directory_path()};
    PeerIdentity identity;
    std::vector<std::unique_ptr<ManagerMachine>> machines;
    std::unique_ptr<ClusterBlobs> blobs;
};

std::string stored(BlobStore& blobs, std::string_view content) {
    const auto writer = blobs.create(content.size());
    writer->write(content);
    const BlobInfo info = writer->finish();
    writer->commit();
    return info.digest;
}

std::string large_text() {
    std::string text;
    for (int i = 0; text.size() < (3U << 20U); ++i) text += std::to_string(i);
    return text;
}

TEST_CASE("two managers have a package when its commit has returned") {
    BlobWorld world;
    for (int i = 0; i < 8; ++i) {
        const std::string digest = stored(*world.blobs, "package " + std::to_string(i));
        CHECK(world.m(1).blobs.contains(digest));
        CHECK(world.copies(digest) == 2);
    }
}

TEST_CASE("a copy that was lost before the commit is sent again") {
    BlobWorld world;
    const auto writer = world.blobs->create(0);
    writer->write("package");
    const std::string digest = writer->finish().digest;
    writer->send_copies();
    CHECK(world.copies(digest) == 1);
    world.m(2).blobs.remove(digest);
    world.m(3).blobs.remove(digest);
    writer->commit();
    CHECK(world.copies(digest) == 2);
}

TEST_CASE("a manager that takes nothing is passed over") {
    BlobWorld world;
    world.m(2).service.on_request = [](const Request&) { throw Error(ErrorCode::exhausted, "disk is full"); };
    for (int i = 0; i < 4; ++i)
        CHECK(world.m(3).blobs.contains(stored(*world.blobs, "package " + std::to_string(i))));
}

TEST_CASE("a manager that lives alone keeps one copy, and makes up for it later") {
    BlobWorld world;
    world.m(1).membership.leave("id-m2");
    world.m(1).membership.leave("id-m3");
    const std::string digest = stored(*world.blobs, "alone");
    CHECK(world.copies(digest) == 1);
    world.m(1).membership.join(world.m(3).self);
    world.blobs->keep_copies({digest});
    CHECK(world.m(3).blobs.contains(digest));
}

TEST_CASE("a commit waits until managers that do not answer are known to be dead") {
    BlobWorld world;
    world.m(2).stop();
    world.m(3).stop();
    std::jthread etcd([&] {
        world.m(1).membership.leave("id-m2");
        world.m(1).membership.leave("id-m3");
    });
    CHECK(world.copies(stored(*world.blobs, "bytes")) == 1);
}

TEST_CASE("a package that no other living manager takes is not kept at all") {
    BlobWorld world(std::chrono::milliseconds(10));
    world.m(2).stop();
    world.m(3).stop();
    const auto writer = world.blobs->create(5);
    writer->write("bytes");
    const std::string digest = writer->finish().digest;
    const std::string message = message_of([&] { writer->commit(); });
    CHECK(message.starts_with("no other manager takes a copy of the package: manager m"));
    CHECK(world.copies(digest) == 0);
}

TEST_CASE("what may be kept alone goes to a second manager, and is kept without one") {
    BlobWorld world;
    const auto keep = [&](std::string_view text) {
        const auto writer = world.blobs->create(text.size());
        writer->write(text);
        const std::string digest = writer->finish().digest;
        writer->commit_even_alone();
        return digest;
    };
    CHECK(world.copies(keep("first")) == 2);
    for (const std::size_t other : {2U, 3U})
        world.m(other).service.on_request = [](const Request&) {
            throw Error(ErrorCode::exhausted, "disk is full");
        };
    const std::string digest = keep("second");
    CHECK(world.m(1).blobs.contains(digest));
    CHECK(world.copies(digest) == 1);
    world.m(3).service.on_request = nullptr;
    world.blobs->keep_copies({digest});
    CHECK(world.m(3).blobs.contains(digest));
}

TEST_CASE("a package that another manager has is fetched once and is here then") {
    BlobWorld world;
    const std::string digest = stored(world.m(2).blobs, large_text());
    std::atomic<int> sent = 0;
    world.m(2).service.on_request = [&](const Request& request) { sent += request.method == Method::get; };
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 6; ++i) threads.emplace_back([&] { world.blobs->path(digest); });
    }
    CHECK(sent == 1);
    CHECK(read_file(world.m(1).blobs.path(digest)) == large_text());
    world.m(2).stop();
    CHECK(read_file(world.blobs->path(digest)) == large_text());
}

TEST_CASE("to ask for a package does not fetch it") {
    BlobWorld world;
    const std::string digest = stored(world.m(3).blobs, "bytes");
    CHECK(world.blobs->contains(digest));
    CHECK_FALSE(world.m(1).blobs.contains(digest));
    CHECK_FALSE(world.blobs->contains(sha256_hex("nowhere")));
}

TEST_CASE("a copy with other bytes is passed over") {
    BlobWorld world;
    const std::string digest = stored(world.m(2).blobs, "right");
    write_file_atomically(world.m(2).blobs.path(digest), "wrong");
    CHECK(message_of([&] {
              world.blobs->path(digest);
          }).ends_with("manager m2: the bytes are not those of the package"));
    CHECK_FALSE(world.m(1).blobs.contains(digest));
    stored(world.m(3).blobs, "right");
    CHECK(read_file(world.blobs->path(digest)) == "right");
}

TEST_CASE("a package that nobody has is not found, one that may be at a silent manager is unavailable") {
    BlobWorld world;
    const std::string digest = sha256_hex("nowhere");
    CHECK(code_of([&] { world.blobs->path(digest); }) == ErrorCode::not_found);
    world.m(3).stop();
    CHECK(code_of([&] { world.blobs->path(digest); }) == ErrorCode::unavailable);
}

TEST_CASE("a fetch leaves the reserve of the disk") {
    BlobWorld world;
    const std::string digest = stored(world.m(2).blobs, "bytes");
    DirBlobStore full({.root = world.keys.path() / "full", .reserve_bytes = ~std::uint64_t{0}});
    ClusterBlobs blobs(full, world.m(1).membership, world.identity);
    CHECK(code_of([&] { blobs.path(digest); }) == ErrorCode::exhausted);
    CHECK(full.list().empty());
}

TEST_CASE("the leader removes a package everywhere, and lists what all have") {
    BlobWorld world;
    const std::string first = stored(*world.blobs, "first");
    const std::string at_third = stored(world.m(3).blobs, "left over");
    CHECK(world.blobs->list().size() == 2);
    world.blobs->remove(first);
    world.blobs->remove(at_third);
    CHECK(world.copies(first) + world.copies(at_third) == 0);
}

TEST_CASE("managers that are away keep what is removed until they are back") {
    BlobWorld world;
    const std::string digest = stored(world.m(3).blobs, "left over");
    world.m(1).membership.leave("id-m3");
    world.blobs->remove(digest);
    CHECK(world.blobs->list().empty());
    world.m(1).membership.join(world.m(3).self);
    REQUIRE(world.blobs->list().size() == 1);
    world.blobs->remove(digest);
    CHECK(world.copies(digest) == 0);
}

TEST_CASE("a manager that does not lead removes nothing, not even from its own disk") {
    BlobWorld world;
    const std::string digest = stored(*world.blobs, "needed");
    world.lead("m2", 2);
    CHECK(code_of([&] { world.blobs->remove(digest); }) == ErrorCode::unavailable);
    CHECK(world.copies(digest) == 2);
}

TEST_CASE("others keep their copies where a former leader does not know of its end yet") {
    BlobWorld world;
    const std::string digest = stored(*world.blobs, "needed");
    stored(world.m(2).blobs, "needed");
    world.m(2).guard.raise(2);
    world.blobs->remove(digest);
    CHECK(world.m(2).blobs.contains(digest));
}

TEST_CASE("a former leader keeps its copy, too, where its machine follows the next one") {
    BlobWorld world;
    const std::string digest = stored(*world.blobs, "needed");
    world.m(1).guard.raise(2);
    CHECK(code_of([&] { world.blobs->remove(digest); }) == ErrorCode::conflict);
    CHECK(world.copies(digest) == 2);
}

TEST_CASE("what has lost a copy gets another one") {
    BlobWorld world;
    const std::string here = stored(world.m(1).blobs, "only here");
    const std::string there = stored(world.m(3).blobs, "only there");
    const std::string both = stored(*world.blobs, "at two");
    const std::string nowhere = sha256_hex("nowhere");
    const std::string unneeded = stored(world.m(3).blobs, "not needed");
    const auto counted = [&](std::uint64_t single) {
        const PackageCopies copies = world.blobs->copies();
        return copies.needed == 4 && copies.single == single && copies.none == 1;
    };
    world.blobs->keep_copies({here, there, both, nowhere});
    CHECK(counted(2));
    world.blobs->keep_copies({here, there, both, nowhere});
    CHECK(counted(0));
    for (const std::string& digest : {here, there, both}) CHECK(world.copies(digest) == 2);
    CHECK(world.copies(unneeded) == 1);
    CHECK(world.m(1).blobs.contains(there));
}

}  // namespace
}  // namespace svc
