// Instances on several nodes: placement, nodes that go and come back, containers in the wrong place.
#include <algorithm>
#include <map>
#include <set>

#include "tests/unit/services/cluster_fixture.h"

using namespace svc;
using namespace svc::test;

TEST_CASE_METHOD(ClusterFixture, "instances are spread, each in the network of its node") {
    std::set<std::string> used;
    for (int i = 0; i < 3; ++i) {
        const auto instance = records().get(launched());
        used.insert(*instance->node);
        CHECK(simulated.inspect(instance->id.str())->node == *instance->node);
        CHECK(instance->address == (*instance->node == "m1"   ? "10.0.0.2"
                                    : *instance->node == "m2" ? "10.32.0.2"
                                                              : "10.64.0.2"));
    }
    CHECK(used == std::set<std::string>{"m1", "m2", "m3"});
}

TEST_CASE_METHOD(ClusterFixture, "each node has its own node ports") {
    InstanceCreate create = request();
    ServiceEntry service;
    service.port = 22;
    service.protocols = {"tcp"};
    create.services = {service};
    for (int i = 0; i < 3; ++i) CHECK(records().get(launched(create))->services[0].node_port == 10000);
    CHECK(records().get(launched(create))->services[0].node_port == 10001);
}

TEST_CASE_METHOD(ClusterFixture, "nothing is placed where nothing may run") {
    switch_off("m2");
    NodePatch closed;
    closed.unschedulable = true;
    wait(nodes().patch("m3", closed, "test"));
    for (int i = 0; i < 8; ++i) CHECK(node_of(launched()) == "m1");
    const auto refused = wait(launch());
    CHECK_THAT(refused->err, Catch::Contains("m1: cpus short by 2; m2: not online; m3: unschedulable"));
    InstanceCreate create = request();
    create.node = "m2";
    CHECK(refusal(create) == "scheduling on node m2 not allowed: it is offline");
}

TEST_CASE_METHOD(ClusterFixture, "tags and GPU slots choose among the nodes") {
    NodePatch change;
    change.tags = std::vector<std::string>{"fast"};
    change.gpu_slots = 1;
    wait(nodes().patch("m3", change, "test"));
    InstanceCreate create = request();
    create.gpu_slots = 1;
    CHECK(node_of(launched(create)) == "m3");
    CHECK_THAT(wait(launch(create))->err, Catch::Contains("m3: gpu slots short by 1"));
    Instance tagged;
    tagged.id = InstanceId("t");
    tagged.resources = {2, 1, 1, 0};
    tagged.node_selector = {"fast"};
    for (int i = 0; i < 3; ++i) {
        tagged.id = InstanceId("t" + std::to_string(i));
        CHECK(nodes().reserve(tagged).node == "m3");
    }
}

TEST_CASE_METHOD(ClusterFixture, "instances of an offline node are set aside until it is back") {
    const std::string id = launched_on("m2");
    const auto before = records().get(id);
    const std::string other = launched_on("m1");
    switch_off("m2");
    await_status(id, InstanceStatus::error);
    CHECK(error_of(id) == "container cannot be read: node m2 is offline");
    CHECK(records().get(id)->address == before->address);
    CHECK(status(other) == InstanceStatus::running);
    CHECK(code_of([&] { instances().set_desired_status(id, "running", false, PathWord::containers, "t"); }) ==
          ErrorCode::unavailable);
    switch_on("m2");
    await_status(id, InstanceStatus::running);
    CHECK(error_of(id).empty());
    CHECK(records().get(launched_on("m2"))->address == "10.32.0.3");
}

TEST_CASE_METHOD(ClusterFixture, "a launch does not wait for a guest whose node is offline") {
    InstanceCreate create = request();
    create.node = "m2";
    const std::string id = booting(create);
    switch_off("m2");
    CHECK(launch_of(id)->err == "container cannot be read: node m2 is offline");
    CHECK(status(id) == InstanceStatus::error);
    CHECK(error_of(id) == "container cannot be read: node m2 is offline");
    switch_on("m2");
    turn_clock_until("the guest's report is expected again, as its agent repeats it", std::chrono::seconds(1),
                     [&] {
                         return status(id) == InstanceStatus::started &&
                                message_of([&] { report(id, "running"); }).empty();
                     });
    await_status(id, InstanceStatus::running);
}

TEST_CASE_METHOD(ClusterFixture, "a leader that has never seen a node does not take its instances for gone") {
    const std::string id = launched_on("m2");
    switch_off("m2");
    await_status(id, InstanceStatus::error);
    settle(id);
    SimulatedRuntime other(clock, simulation());  // knows no container
    other.machines().set_online("m2", false);
    PlacedContainers seen(other, life->instances, life->nodes);
    REQUIRE(seen.inspect(id));
    CHECK(seen.inspect(id)->state == ContainerState::unreadable);
    CHECK(seen.inspect(id)->fault == "node m2 is offline");
    REQUIRE(seen.list().size() == 1);
    CHECK(seen.list()[0].node == "m2");
    CHECK(message_of([&] { seen.start(id); }) == "node m2 is offline");
    CHECK(code_of([&] { seen.remove(id); }) == ErrorCode::unavailable);
    other.machines().set_online("m2", true);
    CHECK_FALSE(seen.inspect(id));
    CHECK(seen.list().empty());
}

TEST_CASE_METHOD(ClusterFixture, "an instance of an offline node is deleted by force alone") {
    const std::string id = launched_on("m2");
    switch_off("m2");
    await_status(id, InstanceStatus::error);
    settle(id);
    CHECK(message_of([&] { instances().remove(id, false, PathWord::containers, "test"); }) ==
          "deleting the container not possible: node m2 is offline. By force its record is deleted now, and "
          "the container when the node is back");
    CHECK(wait(instances().remove(id, true, PathWord::containers, "test"))->err.empty());
    CHECK_FALSE(records().find(id));
    CHECK(has_container(id));
    switch_on("m2");
    eventually("the container is gone", [&] { return !has_container(id); });
    CHECK(records().get(launched_on("m2"))->address == "10.32.0.2");
}

TEST_CASE_METHOD(ClusterFixture, "a container on a node that is not its instance's is removed") {
    const std::string id = launched_on("m2");
    life->instances.update(id, [](Instance& instance) { instance.node = "m1"; });
    instances().reconciler().reconcile();
    CHECK_FALSE(has_container(id));
}

TEST_CASE_METHOD(ClusterFixture, "what an unreadable record has reserved is given back on its own node") {
    const std::string id = launched_on("m2");
    ContainerSpec spec;
    spec.id = "lost";
    spec.node = "m2";
    spec.address = "10.32.0.3";
    Batch batch;
    batch.put("instances/lost", "{");
    freezing_store.commit(batch);
    runtime.create(spec);
    restart();
    CHECK(records().get(launched_on("m2"))->address == "10.32.0.4");
    CHECK(runtime.last_spec().id != "lost");
    CHECK(id != "lost");
}

TEST_CASE("a thousand nodes take instances evenly, and none that is offline") {
    WorldOptions many;
    for (int i = 0; i < 1000; ++i) many.nodes.push_back("n" + std::to_string(i));
    ServiceWorld world(many);
    world.simulated.machines().set_online("n7", false);
    eventually("the node is offline", [&] { return world.nodes().get("n7")->status == NodeStatus::offline; });
    std::map<std::string, int> taken;
    for (int i = 0; i < 2997; ++i) {
        Instance wanting;
        wanting.id = InstanceId("i" + std::to_string(i));
        wanting.resources = {1, 1, 1, 0};
        ++taken[world.nodes().reserve(wanting).node];
    }
    CHECK(taken.size() == 999);
    CHECK_FALSE(taken.contains("n7"));
    CHECK(std::ranges::all_of(taken, [](const auto& each) { return each.second == 3; }));
}
