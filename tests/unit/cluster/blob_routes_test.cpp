#include "libsvc/cluster/blob_routes.h"

#include <catch2/catch.hpp>

#include "libsvc/base/digest.h"
#include "libsvc/base/file.h"
#include "libsvc/cluster/blob_peers.h"
#include "libsvc/net/client/direct_call.h"
#include "tests/support/error_code.h"
#include "tests/support/manager_machine.h"

namespace svc {
namespace {

using test::code_of;
using test::message_of;

struct RoutesWorld {
    TemporaryDirectory directory{std::filesystem::temp_directory_path()};
    PeerIdentity identity = test::make_peer_identity(directory.path());
    test::ManagerMachine machine{"m2", identity};
    BlobPeers peers{identity};

    std::string put(std::string_view content) {
        const auto writer = machine.blobs.create(content.size());
        writer->write(content);
        const std::string digest = writer->finish().digest;
        writer->commit();
        return digest;
    }
    ClientReply ask(Method method, const std::string& path, const std::string& term = "") {
        ClientRequest request;
        request.method = method;
        request.path = path;
        if (!term.empty()) request.headers.set(term_header, term);
        return call_directly(peer_target(identity, machine.self.address), request);
    }
};

TEST_CASE("a package is sent from any offset on, so that a broken transfer can go on") {
    RoutesWorld world;
    const std::string digest = world.put("0123456789");
    const auto from = [&](std::uint64_t offset) {
        std::string got;
        world.peers.fetch(world.machine.self, digest, offset, [&](std::string_view piece) { got += piece; });
        return got;
    };
    CHECK(from(0) == "0123456789");
    CHECK(from(7) == "789");
    CHECK(from(10).empty());
    CHECK(code_of([&] { from(11); }) == ErrorCode::invalid_argument);
    const std::string path = std::string(peer_blobs_path) + "/" + digest;
    for (const char* bad : {"-1", "x", "1x", "99999999999999999999999"})
        CHECK(world.ask(Method::get, path + "?from=" + bad).status == 400);
}

TEST_CASE("the size of a package is told without its bytes") {
    RoutesWorld world;
    CHECK(world.peers.size(world.machine.self, world.put("0123456789")) == 10);
    CHECK(world.peers.size(world.machine.self, world.put("")) == 0);
    CHECK_FALSE(world.peers.size(world.machine.self, sha256_hex("nowhere")));
}

TEST_CASE("what is pushed under the digest of something else is refused and leaves nothing") {
    RoutesWorld world;
    const auto file = world.directory.path() / "file";
    write_file_atomically(file, "other bytes");
    const std::string message =
        message_of([&] { world.peers.push(world.machine.self, sha256_hex("bytes"), file); });
    CHECK(message.starts_with("manager m2: the bytes are not those of blob"));
    CHECK(world.machine.blobs.list().empty());
    world.peers.push(world.machine.self, sha256_hex("other bytes"), file);
    CHECK(world.machine.blobs.contains(sha256_hex("other bytes")));
}

TEST_CASE("a removal needs the term of the leader, and not an older one") {
    RoutesWorld world;
    const std::string digest = world.put("bytes");
    const std::string path = std::string(peer_blobs_path) + "/" + digest;
    (void)world.machine.guard.enter(5);  // as the call of a node does
    CHECK(world.ask(Method::delete_, path).status == 400);
    CHECK(world.ask(Method::delete_, path, "4").status == 409);
    CHECK(world.machine.blobs.contains(digest));
    CHECK(world.ask(Method::delete_, path, "5").status == 200);
    CHECK_FALSE(world.machine.blobs.contains(digest));
    CHECK(world.ask(Method::delete_, path, "6").status == 200);
    CHECK(world.machine.guard.highest() == 6);
}

TEST_CASE("names that are no digests lead nowhere") {
    RoutesWorld world;
    write_file_atomically(world.machine.directory.path() / "keys", "secret");
    for (const char* name : {"incoming", "..", "..%2Fkeys", "ab"}) {
        const std::string path = std::string(peer_blobs_path) + "/" + name;
        CHECK(world.ask(Method::get, path).status == 404);
        world.ask(Method::delete_, path, "1");
    }
    CHECK(std::filesystem::exists(world.machine.directory.path() / "blobs" / "incoming"));
    CHECK(std::filesystem::exists(world.machine.directory.path() / "keys"));
}

}  // namespace
}  // namespace svc
