// All machines as one runtime: who is online, where containers are, how layers come to them.
#include "libsvc/cluster/cluster_runtime.h"

#include <catch2/catch.hpp>

#include <array>
#include <atomic>
#include <future>
#include <map>
#include <optional>

#include "libsvc/base/error.h"
#include "libsvc/base/guarded.h"
#include "tests/support/error_code.h"
#include "tests/support/fake_membership.h"
#include "tests/unit/cluster/node_world.h"

using namespace svc;
using namespace svc::test;

namespace {

constexpr std::chrono::seconds patience{10};

// Three managers; that of m1 leads.
struct ClusterWorld {
    explicit ClusterWorld(std::map<std::string, std::string, std::less<>> placed = {}, bool m3_lives = true) {
        membership.join(manager(0));
        membership.join(manager(1));
        if (m3_lives) membership.join(manager(2));
        lead(7, std::move(placed));
    }
    ~ClusterWorld() { cluster.reset(); }
    Manager manager(int i) {
        const std::string number = std::to_string(i + 1);
        return {"id" + number, "m" + number, machines[i]->server.address(), "", 0};
    }
    void lead(std::uint64_t term, std::map<std::string, std::string, std::less<>> placed = {}) {
        cluster.reset();
        ClusterRuntimeParts parts{membership,
                                  machines[0]->runtime,
                                  machines[0]->simulated.layers(),
                                  machines[0]->server.events(),
                                  identity.identity,
                                  clock,
                                  term,
                                  std::move(placed)};
        parts.times.pause = std::chrono::milliseconds(1);
        parts.times.patience = long_wait;
        parts.patience = patience;
        parts.may_begin = [this] {
            if (!leads) throw Error(ErrorCode::unavailable, "this manager may not lead any more");
        };
        parts.enter = [this, begin = parts.may_begin](std::uint64_t own) {
            begin();
            return machines[0]->server.guard().enter(own);
        };
        parts.on_outdated = [this](const std::string& node, std::uint64_t newer) {
            outdated.with([&](auto& all) { all.emplace(node, newer); });
        };
        cluster.emplace(std::move(parts));
        changes = 0;
        cluster->runtime().on_nodes_changed([this] { ++changes; });
    }
    Runtime& runtime() { return cluster->runtime(); }
    RuntimeNode node(const std::string& name) {
        for (RuntimeNode& each : runtime().nodes())
            if (each.name == name) return each;
        throw std::runtime_error("no node " + name);
    }
    void await_online(const std::string& name, bool online) {
        eventually(name + (online ? " is online" : " is offline"),
                   [&] { return node(name).online == online; });
    }
    // The manager of m2 or m3 is away for as long as a node may be.
    void lose(int i) {
        const std::string name = "m" + std::to_string(i + 1);
        eventually("the leader has asked the node", [&] { return !node(name).capacity.runtime.empty(); });
        const int before = changes;
        machines[i]->server.stop();
        eventually("the node is offline, and not only without an answer", [&] {
            clock.advance(patience);
            return node(name).fault == "node " + name + " is offline";
        });
        eventually("it is told", [&] { return changes > before; });
    }
    ContainerInfo info(const std::string& id) {
        const auto found = runtime().inspect(id);
        if (!found) throw std::runtime_error("no container " + id);
        return *found;
    }

    TemporaryDirectory directory{std::filesystem::temp_directory_path(), "svc-cluster-"};
    ClusterIdentity identity;
    ManualClock clock;
    std::array<std::unique_ptr<Machine>, 3> machines{make_machine("m1"), make_machine("m2"),
                                                     make_machine("m3")};
    FakeMembership membership{{"id1", "m1", "", "", 0}};
    std::atomic<int> changes{0};
    std::atomic<bool> leads{true};
    Guarded<std::map<std::string, std::uint64_t>> outdated;  // what nodes refuse this leader for
    std::optional<ClusterRuntime> cluster;

  private:
    std::unique_ptr<Machine> make_machine(const std::string& name) {
        return std::make_unique<Machine>(identity, directory.path() / name);
    }
};

ContainerSpec spec_on(const std::string& node, const std::string& id, std::vector<std::string> layers = {}) {
    ContainerSpec spec;
    spec.id = id;
    spec.node = node;
    spec.layers = std::move(layers);
    return spec;
}

}  // namespace

TEST_CASE("nodes are the managers, with the capacity of their machines") {
    ClusterWorld world;
    const auto nodes = world.runtime().nodes();
    REQUIRE(nodes.size() == 3);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        CHECK(nodes[i].name == "m" + std::to_string(i + 1));
        CHECK(nodes[i].online);
        CHECK(nodes[i].capacity.runtime == "simulated");
    }
}

TEST_CASE("the address that a node forwards from is known at once") {
    ClusterWorld world;
    for (const std::string& name : {std::string("m1"), std::string("m2")}) {
        const std::string before = world.node(name).capacity.forwards_from;
        world.runtime().forward_from(name, "203.0.113.7");
        CHECK(world.node(name).capacity.forwards_from == "203.0.113.7");
        world.runtime().forward_from(name, before);
        CHECK(world.node(name).capacity.forwards_from == before);
    }
}

TEST_CASE("each machine tells of its own GPUs") {
    ClusterWorld world;
    world.machines[0]->add_gpu("0x8086");
    world.machines[2]->add_gpu("0x10de");
    world.lead(8);
    world.await_online("m2", true);
    world.await_online("m3", true);
    CHECK(world.node("m1").capacity.gpus.at(0).type == "intel");
    CHECK(world.node("m2").capacity.gpus.empty());
    CHECK(world.node("m3").capacity.gpus.at(0).type == "nvidia");
}

TEST_CASE("a leader is told of a node that has followed a newer one, and in which term") {
    ClusterWorld world;
    world.await_online("m2", true);
    CHECK(world.outdated.with([](const auto& all) { return all.empty(); }));
    world.machines[1]->server.guard().raise(9);
    eventually("it is told", [&] {
        return world.outdated.with([](const auto& all) {
            return all == std::map<std::string, std::uint64_t>{{"m2", 9}};
        });
    });
}

TEST_CASE("a leader that may have been followed changes nothing on any machine, but looks") {
    ClusterWorld world;
    for (const std::string id : {"c1", "c2"}) world.runtime().create(spec_on("m" + id.substr(1), id));
    world.leads = false;
    LayerStore& layers = world.cluster->layers();
    for (const std::string id : {"c1", "c2"}) {
        CHECK(code_of([&] { world.runtime().start(id); }) == ErrorCode::unavailable);
        CHECK(code_of([&] { world.runtime().remove(id); }) == ErrorCode::unavailable);
        CHECK(code_of([&] {
                  world.runtime().exec(id, {{"true"}, {}, false, 80, 24});
              }) == ErrorCode::unavailable);
        CHECK(code_of([&] { layers.snapshot("s", id, {}, {}); }) == ErrorCode::unavailable);
        CHECK(world.info(id).state == ContainerState::created);
    }
    CHECK(code_of([&] { layers.remove("layer"); }) == ErrorCode::unavailable);
    CHECK(layers.list().empty());
    world.leads = true;
    for (const std::string id : {"c1", "c2"}) CHECK_NOTHROW(world.runtime().start(id));
}

TEST_CASE("a leader whose machine follows a newer one changes nothing there") {
    ClusterWorld world;
    world.runtime().create(spec_on("m1", "c1"));
    world.machines[0]->server.guard().raise(9);
    CHECK(code_of([&] { world.runtime().start("c1"); }) == ErrorCode::conflict);
    CHECK(world.info("c1").state == ContainerState::created);
}

TEST_CASE("a container is on its node, and every call finds it there") {
    ClusterWorld world;
    world.runtime().create(spec_on("m2", "c2"));
    world.runtime().create(spec_on("", "c1"));
    world.runtime().start("c2");
    CHECK(world.machines[1]->simulated.inspect("c2")->state == ContainerState::running);
    CHECK(world.machines[0]->simulated.inspect("c1").has_value());
    CHECK(world.info("c2").node == "m2");
    CHECK(world.info("c1").node == "m1");
    CHECK(world.runtime().list().size() == 2);
    CHECK(world.runtime().usage().size() == 1);
}

TEST_CASE("a manager may have machines of a simulation, each a node with a name of its own") {
    ClusterWorld world;
    world.machines[1]->simulated.machines().add("m2-sim");
    world.lead(8);
    world.await_online("m2-sim", true);
    CHECK(world.runtime().nodes().size() == 3);
    world.runtime().create(spec_on("m2-sim", "c"));
    CHECK(world.machines[1]->simulated.inspect("c")->node == "m2-sim");
    CHECK(world.info("c").node == "m2-sim");
    world.lead(9);
    CHECK(world.runtime().list().at(0).node == "m2-sim");
    world.machines[1]->server.stop();
    eventually("its machines are offline", [&] {
        world.clock.advance(patience);
        return !world.node("m2-sim").online;
    });
    CHECK(world.node("m2-sim").fault == "node m2-sim is offline");
}

TEST_CASE("a new leader finds containers that it did not make") {
    ClusterWorld world;
    world.runtime().create(spec_on("m3", "c3"));
    world.lead(8);
    world.runtime().start("c3");
    CHECK(world.machines[2]->simulated.inspect("c3")->state == ContainerState::running);
    world.lead(9);
    const auto all = world.runtime().list();
    REQUIRE(all.size() == 1);
    CHECK(all[0].node == "m3");
}

TEST_CASE("a node that the leader has not met yet is offline to it") {
    ClusterWorld world;
    CHECK(message_of([&] { world.runtime().create(spec_on("m9", "c9")); }) == "node m9 is offline");
    CHECK(code_of([&] { world.runtime().create(spec_on("m9", "c9")); }) == ErrorCode::unavailable);
}

TEST_CASE("containers of a node that is offline are unreadable, and are recognised when it is back") {
    ClusterWorld world;
    world.runtime().create(spec_on("m2", "c2"));
    world.runtime().start("c2");
    world.lose(1);
    const auto all = world.runtime().list();
    REQUIRE(all.size() == 1);
    CHECK(all[0].state == ContainerState::unreadable);
    CHECK(all[0].fault == "node m2 is offline");
    CHECK(all[0].node == "m2");
    CHECK(world.info("c2").fault == "node m2 is offline");
    CHECK(message_of([&] { world.runtime().start("c2"); }) == "node m2 is offline");
    CHECK(code_of([&] { world.runtime().stop("c2", Duration::zero()); }) == ErrorCode::unavailable);
    CHECK(code_of([&] { world.runtime().remove("c2"); }) == ErrorCode::unavailable);
    CHECK(code_of([&] { world.runtime().create(spec_on("m2", "c4")); }) == ErrorCode::unavailable);
    CHECK(world.node("m2").fault == "node m2 is offline");
    CHECK(world.node("m2").capacity.runtime == "simulated");
    world.await_online("m3", true);  // the others stay what they are
    const int before = world.changes;
    world.machines[1]->server.start();
    world.await_online("m2", true);
    eventually("that is told", [&] { return world.changes > before; });
    CHECK(world.info("c2").state == ContainerState::running);
}

TEST_CASE("a short absence of a manager is none of its node") {
    ClusterWorld world;
    world.await_online("m2", true);
    world.machines[1]->server.stop();
    CHECK(world.machines[0]->server.guard().highest() ==
          0);  // the leader's own node is not asked over the network
    world.machines[1]->server.start();
    world.clock.advance(patience / 2);
    CHECK(eventually([&] {
        try {
            world.runtime().create(spec_on("m2", "c2"));
            return true;
        } catch (const Error&) {
            return false;  // its connection was not back
        }
    }));
    CHECK(world.node("m2").online);
}

TEST_CASE("a manager that leaves takes its node offline at once, one that comes brings it") {
    ClusterWorld world({}, false);
    CHECK(world.runtime().nodes().size() == 2);
    world.membership.join(world.manager(2));
    eventually("m3 appears", [&] { return world.runtime().nodes().size() == 3; });
    world.await_online("m3", true);
    world.runtime().create(spec_on("m3", "c3"));
    world.membership.leave("id3");
    world.await_online("m3", false);
    CHECK(world.info("c3").state == ContainerState::unreadable);
    world.membership.join(world.manager(2));
    world.await_online("m3", true);
    CHECK(world.info("c3").state == ContainerState::created);
}

TEST_CASE("a node that was offline is online again when it can be asked") {
    ClusterWorld world;
    world.runtime().create(spec_on("m3", "c3"));
    world.await_online("m3", true);
    world.machines[2]->server.stop();
    world.membership.leave("id3");
    world.await_online("m3", false);
    const int before = world.changes;
    world.membership.join(world.manager(2));  // its manager lives, but there is no way to it yet
    world.membership.join({"id4", "m4", world.machines[1]->server.address(), "", 0});
    eventually("both joins are seen", [&] { return world.changes > before; });
    CHECK_FALSE(world.node("m3").online);
    CHECK(world.info("c3").state == ContainerState::unreadable);
    world.machines[2]->server.start();
    world.await_online("m3", true);
    CHECK(world.info("c3").state == ContainerState::created);
}

TEST_CASE("a new leader knows by the records what an absent node has") {
    ClusterWorld world({{"c3", "m3"}}, false);
    const auto all = world.runtime().list();
    REQUIRE(all.size() == 1);
    CHECK(all[0].id == "c3");
    CHECK(all[0].fault == "node m3 is offline");
    CHECK_FALSE(world.node("m3").online);
    world.machines[2]->make_container("c3");
    world.membership.join(world.manager(2));
    world.await_online("m3", true);
    CHECK(world.info("c3").state == ContainerState::created);
}

TEST_CASE("a layer comes from the node that has it, once for all who wait") {
    ClusterWorld world;
    world.machines[2]->add_layer("app", 4711);
    CHECK(world.cluster->layers().contains("app"));
    CHECK(world.cluster->layers().size("app") == 4711);
    std::vector<std::future<void>> creates;
    for (int i = 0; i < 8; ++i)
        creates.push_back(std::async(std::launch::async, [&, i] {
            world.runtime().create(spec_on("m2", "c" + std::to_string(i), {"app"}));
        }));
    for (auto& each : creates) CHECK_NOTHROW(each.get());
    CHECK(world.machines[1]->simulated.layers().size("app") == 4711);
    CHECK_FALSE(world.machines[0]->simulated.layers().contains("app"));
    world.runtime().create(spec_on("m1", "local", {"app"}));
    CHECK(world.machines[0]->simulated.layers().size("app") == 4711);
    CHECK(world.cluster->layers().list() == std::vector<std::string>{"app"});
}

TEST_CASE("a layer that only an absent node has is unavailable, one that nobody has is not found") {
    ClusterWorld world;
    world.machines[2]->add_layer("app", 1);
    CHECK(code_of([&] { world.runtime().create(spec_on("m2", "c2", {"none"})); }) == ErrorCode::not_found);
    world.lose(2);
    CHECK_FALSE(world.cluster->layers().contains("app"));
    CHECK(code_of([&] { world.runtime().create(spec_on("m2", "c2", {"app"})); }) == ErrorCode::unavailable);
}

TEST_CASE("a removed layer goes from all nodes, but where a container uses it") {
    ClusterWorld world;
    world.machines[0]->add_layer("app", 1);
    world.runtime().create(spec_on("m2", "c2", {"app"}));
    CHECK(code_of([&] { world.cluster->layers().remove("app"); }) == ErrorCode::busy);
    CHECK(world.cluster->layers().contains("app"));
    world.runtime().remove("c2");
    world.cluster->layers().remove("app");
    for (const auto& machine : world.machines) CHECK_FALSE(machine->simulated.layers().contains("app"));
}

TEST_CASE("events of all nodes are told") {
    ClusterWorld world;
    Guarded<std::vector<std::string>> told;
    world.runtime().on_event(
        [&](const RuntimeEvent& event) { told.with([&](auto& all) { all.push_back(event.id); }); });
    for (const auto& [node, id] : std::map<std::string, std::string>{{"m1", "c1"}, {"m3", "c3"}}) {
        world.runtime().create(spec_on(node, id));
        world.runtime().start(id);
    }
    world.await_online("m3", true);
    world.machines[0]->simulated.end("c1", false, "over");
    world.machines[2]->simulated.end("c3", false, "over");
    eventually("both are told", [&] { return told.with([](const auto& all) { return all.size() == 2; }); });
    world.runtime().on_event(nullptr);
}
