// A node that is asked over the network: terms, lost connections, events, calls that are cancelled.
#include <catch2/catch.hpp>

#include <future>
#include <thread>

#include "libsvc/cluster/node/remote_stream.h"
#include "libsvc/net/client/direct_call.h"
#include "tests/support/error_code.h"
#include "tests/unit/cluster/node_world.h"

using namespace svc;
using namespace svc::test;

TEST_CASE("a node refuses a leader that was followed, but lets it look") {
    RemoteWorld world;
    world.machine.make_container("c1");
    CHECK_NOTHROW(world.leader->runtime().start("c1"));
    RemoteNodeOptions newer = world.options();
    newer.term = [] { return std::uint64_t{8}; };
    RemoteNode next(newer);
    CHECK_NOTHROW(next.runtime().stop("c1", Duration::zero()));
    CHECK(code_of([&] { world.leader->runtime().start("c1"); }) == ErrorCode::conflict);
    CHECK_THAT(message_of([&] { world.leader->runtime().start("c1"); }), Catch::Contains("a newer leader"));
    CHECK(code_of([&] {
              world.leader->runtime().exec("c1", {{"true"}, {}, false, 80, 24});
          }) == ErrorCode::conflict);
    CHECK(next.runtime().inspect("c1")->state == ContainerState::stopped);
    world.machine.server.stop();
    world.machine.server.start();
    CHECK(code_of([&] { world.leader->runtime().start("c1"); }) == ErrorCode::conflict);
    CHECK_NOTHROW(next.runtime().start("c1"));
}

TEST_CASE("a new leader cancels what the old one waits for, and sees its end") {
    RemoteWorld world;
    world.machine.make_container("c1");
    world.machine.runtime.hold_until_stopped(true);
    auto hook = std::async(std::launch::async, [&] {
        return code_of(
            [&] { world.leader->runtime().run_once("c1", {"/bin/true"}, std::chrono::minutes(1), {}); });
    });
    eventually("the hook runs", [&] { return !world.machine.runtime.commands().empty(); });
    RemoteNodeOptions newer = world.options();
    newer.term = [] { return std::uint64_t{8}; };
    RemoteNode next(newer);
    CHECK_NOTHROW(next.runtime().start("c1"));
    CHECK(hook.get().has_value());
}

TEST_CASE("a hook on another node ends when it is cancelled, and when nobody waits for it any more") {
    RemoteWorld world;
    world.machine.make_container("c1");
    world.machine.runtime.hold_until_stopped(true);
    std::stop_source stop;
    auto hook = std::async(std::launch::async, [&] {
        return code_of([&] {
            world.leader->runtime().run_once("c1", {"/bin/true"}, std::chrono::minutes(1), stop.get_token());
        });
    });
    eventually("the hook runs", [&] { return world.machine.runtime.commands().size() == 1; });
    stop.request_stop();
    CHECK(hook.get() == ErrorCode::cancelled);
    // The connection breaks: the node ends the hook, and the leader's repeated call runs it again.
    world.machine.runtime.hold_until_stopped(true);
    auto again = std::async(std::launch::async, [&] {
        return world.leader->runtime().run_once("c1", {"/bin/false"}, std::chrono::minutes(1), {});
    });
    eventually("the hook runs again", [&] { return world.machine.runtime.commands().size() == 2; });
    world.machine.runtime.hold_until_stopped(false);
    world.machine.server.break_connections();
    CHECK(again.get() == 1);
    CHECK(world.machine.runtime.commands().size() == 3);
}

TEST_CASE("a call whose connection is lost is made again when the manager is back") {
    RemoteWorld world;
    world.machine.make_container("c1");
    world.await_connections(1);
    world.machine.server.stop();
    auto start = std::async(std::launch::async, [&] { world.leader->runtime().start("c1"); });
    world.machine.server.start();
    CHECK_NOTHROW(start.get());
    CHECK(world.machine.runtime.inspect("c1")->state == ContainerState::running);
    world.await_connections(2);
    CHECK(world.losses > 0);
}

TEST_CASE("calls to a node that does not come back are unavailable") {
    RemoteWorld world;
    RemoteNodeOptions hasty = world.options();
    hasty.times.patience = std::chrono::milliseconds(1);
    RemoteNode leader(hasty);
    eventually("it is connected", [&] { return leader.connected(); });
    world.machine.server.stop();
    eventually("it is lost", [&] { return !leader.connected(); });
    CHECK_FALSE(leader.fault().empty());
    CHECK(code_of([&] { leader.runtime().start("c1"); }) == ErrorCode::unavailable);
    CHECK(message_of([&] { leader.runtime().list(); }) == "node m2 is offline");
    CHECK(code_of([&] {
              leader.runtime().exec("c1", {{"true"}, {}, false, 80, 24});
          }) == ErrorCode::unavailable);
}

TEST_CASE("a node that is slow to say where it forwards from is given up and may be asked again") {
    RemoteWorld world;
    RemoteNodeOptions hasty = world.options();
    hasty.times.answer = std::chrono::milliseconds(50);
    std::atomic<int> unanswered{0};
    hasty.called = [&](bool answered) { unanswered += answered ? 0 : 1; };
    std::promise<void> released;
    const auto release = released.get_future().share();
    world.machine.runtime.before("forward_from", [&] { release.wait(); });
    RemoteNode leader(hasty);
    eventually("it is connected", [&] { return leader.connected(); });
    const auto told = [&] { return message_of([&] { leader.runtime().forward_from("m2", "203.0.113.7"); }); };
    CHECK(told() == "node m2 does not answer");
    CHECK(unanswered == 1);
    released.set_value();
    // It comes late.
    eventually("it forwards from there",
               [&] { return world.machine.runtime.nodes().at(0).capacity.forwards_from == "203.0.113.7"; });
    CHECK(told().empty());
}

TEST_CASE("events are told again after the stream was lost") {
    RemoteWorld world;
    Guarded<std::vector<std::string>> told;
    world.leader->runtime().on_event([&](const RuntimeEvent& event) {
        told.with([&](auto& all) { all.push_back(event.id + ": " + event.reason); });
    });
    for (const char* id : {"c1", "c2"}) {
        world.machine.make_container(id);
        world.machine.runtime.start(id);
    }
    world.await_connections(1);
    world.machine.simulated.end("c1", false, "first");
    eventually("the first is told",
               [&] { return told.with([](const auto& all) { return all.size() == 1; }); });
    world.machine.server.break_connections();
    world.await_connections(2);
    world.machine.simulated.end("c2", false, "second");
    eventually("the second is told",
               [&] { return told.with([](const auto& all) { return all.size() == 2; }); });
    CHECK(told.with([](const auto& all) { return all; }) ==
          std::vector<std::string>{"c1: first", "c2: second"});
}

TEST_CASE("large answers and large specifications pass") {
    RemoteWorld world;
    ContainerSpec spec;
    spec.id = "c1";
    spec.files = {{"/etc/large", std::string(3U << 20, 'x'), 0644}};
    world.leader->runtime().create(spec);
    CHECK(world.machine.runtime.last_spec().files.at(0).content.size() == 3U << 20);
    for (int i = 0; i < 8000; ++i) world.machine.make_container("container-" + std::to_string(i));
    CHECK(world.leader->runtime().list().size() == 8001);
}

TEST_CASE("a log arrives as a descriptor, its end where it is long") {
    RemoteWorld world;
    world.machine.make_container("c1");
    const auto file = world.directory.path() / "log";
    write_file_atomically(file, std::string(2U << 20, 'a') + "the end");
    world.machine.runtime.add_log({"console.log", file});
    world.machine.runtime.add_log({"gone.log", world.directory.path() / "gone"});
    const auto logs = world.leader->runtime().logs("c1");
    REQUIRE(logs.size() == 1);
    CHECK(logs[0].name == "console.log");
    REQUIRE(logs[0].file);
    const std::string text = read_file("/proc/self/fd/" + std::to_string(logs[0].file->get()));
    CHECK(text.size() == 1U << 20);
    CHECK(text.ends_with("the end"));
}

TEST_CASE("a node tells in which format it exports, and makes the one that was asked for") {
    RemoteWorld world;
    world.machine.add_layer("l1", 7);
    for (const Compression compression : {Compression::gzip, Compression::zstd}) {
        const ExportRequest request{{"l1"}, "architecture: x86_64\n", compression};
        const std::string format = world.leader->layers().export_archive(request)->format();
        CHECK_THAT(format, Catch::Contains(std::string(to_text(compression))));
        CHECK(format == world.machine.simulated.layers().export_archive(request)->format());
    }
}

TEST_CASE("a node of an earlier version exports by gzip alone, in an unknown format") {
    RemoteWorld world;
    FakeLayers old(world.machine.simulated.layers());
    NodeServer server(world.identity, world.machine.runtime, old, world.directory.path() / "old");
    RemoteNodeOptions options = world.options();
    options.target = peer_target(world.identity.identity, server.address());
    RemoteNode leader(options);
    const auto exported = [&](Compression compression) {
        old.next_export(std::make_unique<OldArchive>("old"));
        return leader.layers().export_archive({{"l1"}, "", compression});
    };
    CHECK(exported(Compression::gzip)->format().empty());
    CHECK(exported(Compression::gzip)->read(10) == "old");
    CHECK(code_of([&] { exported(Compression::zstd); }) == ErrorCode::unsupported);
}

// It knows the digest of other bytes.
TEST_CASE("a leader of an earlier version gets no export from a newer node") {
    RemoteWorld world;
    world.machine.add_layer("l1", 7);
    ClientRequest request;
    request.method = Method::post;
    request.path = std::string(node_path) + "export";
    request.body = R"({"layers":["l1"],"metadata":""})";
    const ClientReply reply =
        call_directly(peer_target(world.identity.identity, world.machine.server.address()), request);
    const Error refusal = node::refusal_of(reply.status, reply.body);
    CHECK(refusal.code() == ErrorCode::unavailable);
    CHECK(std::string(refusal.what()) == "exports from this node wait until the leader has its version");
}

TEST_CASE("a package that is cancelled on its way leaves nothing") {
    RemoteWorld world;
    const auto package = world.directory.path() / "package";
    write_file_atomically(package, "no archive");
    CHECK(code_of([&] { world.leader->layers().add("l1", package, {}); }) == ErrorCode::invalid_argument);
    const auto waiting = world.machine.server.state() / "packages";
    CHECK(std::filesystem::is_empty(waiting));
    std::stop_source stop;
    stop.request_stop();
    LayerStore::Progress progress;
    progress.stop = stop.get_token();
    CHECK(code_of([&] { world.leader->layers().add("l1", package, progress); }) == ErrorCode::cancelled);
    CHECK(std::filesystem::is_empty(waiting));
    CHECK_FALSE(world.leader->layers().contains("l1"));
}
