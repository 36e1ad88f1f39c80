// The records of nodes follow the machines of a runtime that has several.
#include "tests/unit/services/cluster_fixture.h"

using namespace svc;
using namespace svc::test;

namespace {

struct MachinesFixture : ClusterFixture {
    std::vector<std::string> names() {
        std::vector<std::string> all;
        for (const auto& node : nodes().list()) all.push_back(node->name);
        return all;
    }
    std::shared_ptr<const Node> node(const std::string& name) { return nodes().get(name); }
    void remove(const std::string& name, bool force = false, bool keep = false) {
        REQUIRE(wait(nodes().remove(name, {force, keep}, "test"))->err.empty());
    }
};

}  // namespace

TEST_CASE_METHOD(MachinesFixture, "each machine is a node with its own part of the network") {
    CHECK(names() == std::vector<std::string>{"m1", "m2", "m3"});
    CHECK(node("m1")->subnet == "10.0.0.1/11");
    CHECK(node("m2")->subnet == "10.32.0.1/11");
    CHECK(node("m2")->cpus == 4);
    CHECK(node("m2")->managed);
    CHECK_FALSE(node("m2")->is_master);
}

TEST_CASE_METHOD(MachinesFixture, "the node of the leader is the master, also after the lead has gone over") {
    NodeServiceParts parts{freezing_store, life->nodes,  life->removed_nodes, runtime,
                           life->config,   life->engine, service_clock,       node_options()};
    parts.options.local_name = "m1";
    const auto masters = [&] {
        std::vector<std::string> all;
        for (const auto& each : nodes().list())
            if (each->is_master) all.push_back(each->name);
        return all;
    };
    NodeService first(parts);
    first.recover();
    CHECK(masters() == std::vector<std::string>{"m1"});
    parts.options.local_name = "m3";
    NodeService second(parts);
    second.recover();
    CHECK(masters() == std::vector<std::string>{"m3"});
}

TEST_CASE_METHOD(MachinesFixture, "records of nodes are written when something has changed, and only then") {
    const std::size_t before = failing_store.commits();
    restart();
    nodes().follow();
    CHECK(failing_store.commits() == before);
    machines.set_cpus("m2", 9);
    eventually("the record has the new number", [&] { return node("m2")->cpus == 9; });
    CHECK(failing_store.commits() == before + 1);
}

TEST_CASE_METHOD(MachinesFixture, "a machine takes its place and keeps what a user has set") {
    NodePatch change;
    change.cpus = 2;
    change.tags = std::vector<std::string>{"fast"};
    wait(nodes().patch("m2", change, "test"));
    switch_off("m2");
    machines.set_cpus("m2", 8);
    switch_on("m2");
    CHECK(node("m2")->cpus == 8);
    CHECK(node("m2")->configured_cpus == 2);
    CHECK(node("m2")->tags == std::vector<std::string>{"fast"});
    machines.add("m4");
    await_node("m4", NodeStatus::online);
    CHECK(node_of(launched_on("m4")) == "m4");
}

TEST_CASE_METHOD(MachinesFixture, "a machine that has gone is an offline node") {
    machines.remove("m3");
    await_node("m3", NodeStatus::offline);
}

TEST_CASE_METHOD(MachinesFixture, "a removed node stays away while its manager lives") {
    SECTION("for good") {
        remove("m2");
        machines.set_online("m2", false);
        machines.set_online("m2", true);
        nodes().follow();
        CHECK(names() == std::vector<std::string>{"m1", "m3"});
        restart();
        CHECK(names() == std::vector<std::string>{"m1", "m3"});
        machines.remove("m2");
        nodes().follow();
        machines.add("m2");
        await_node("m2", NodeStatus::online);
    }
    SECTION("as a manager without a node") {
        remove("m2", false, true);
        machines.remove("m2");
        nodes().follow();
        machines.add("m2");
        nodes().follow();
        CHECK(names() == std::vector<std::string>{"m1", "m3"});
        REQUIRE(wait(nodes().create(addition("m2", "10.9.9.9"), "test"))->err.empty());
        CHECK(node("m2")->status == NodeStatus::online);
    }
}

TEST_CASE_METHOD(MachinesFixture, "a node that is in use is removed by force, with its instances") {
    const std::string id = launched_on("m2");
    CHECK(message_of([&] { nodes().remove("m2", {}, "test"); }) == "node m2 is in use by instances " + id);
    remove("m2", true);
    CHECK_FALSE(records().find(id));
    CHECK_FALSE(has_container(id));
    CHECK(names() == std::vector<std::string>{"m1", "m3"});
}

TEST_CASE_METHOD(MachinesFixture, "an offline node is removed by force; its containers go when it is back") {
    const std::string id = launched_on("m2");
    switch_off("m2");
    remove("m2", true);
    CHECK_FALSE(records().find(id));
    CHECK(has_container(id));
    machines.set_online("m2", true);
    instances().reconciler().reconcile();
    CHECK_FALSE(has_container(id));
}

TEST_CASE_METHOD(MachinesFixture, "a machine that is there is added again with the values of the request") {
    const std::string address = node("m2")->address;
    remove("m2");
    NodeCreate create = addition("m2", address);
    create.public_address = "203.0.113.7";
    create.cpu_allocation_rate = 1;
    create.gpu_slots = 3;
    create.tags = {"fast"};
    const auto added = wait(nodes().create(create, "test"));
    REQUIRE(added->err.empty());
    CHECK(added->description == "Creating node");
    CHECK(node("m2")->status == NodeStatus::online);
    CHECK(node("m2")->public_address == "203.0.113.7");
    CHECK(node("m2")->cpu_allocation_rate == 1);
    CHECK(node("m2")->gpu_slots == 3);
    CHECK(node("m2")->cpus == 4);
    CHECK(code_of([&] { nodes().create(create, "test"); }) == ErrorCode::conflict);
}

TEST_CASE_METHOD(MachinesFixture, "an addition names the machine as its manager does") {
    const std::string address = node("m2")->address;
    remove("m2");
    CHECK(message_of([&] { nodes().create(addition("other", address + ":8445"), "test"); }) ==
          "argument name is invalid: the machine at " + address + " is node 'm2'");
}

TEST_CASE_METHOD(MachinesFixture, "an addition waits for a machine that has not come yet") {
    const Started started = nodes().create(addition("m4", "10.200.0.1"), "test");
    await_node("m4", NodeStatus::initializing);
    CHECK(code_of([&] { nodes().create(addition("m4", "10.200.0.2"), "test"); }) == ErrorCode::conflict);
    SECTION("and ends when it comes") {
        machines.add("m4");
        CHECK(wait(started)->err.empty());
        CHECK(node("m4")->status == NodeStatus::online);
    }
    SECTION("but not for ever") {
        turn_clock_until("the addition has ended", std::chrono::minutes(1),
                         [&] { return is_final(engine().get(started->id.str())->status); });
        CHECK(wait(started)->err ==
              "node m4 has not come within 10m: no manager of that name has joined the cluster");
        CHECK(node("m4")->status == NodeStatus::error);
        machines.add("m4");
        await_node("m4", NodeStatus::online);
    }
    SECTION("unless it is cancelled") {
        engine().cancel(started->id.str());
        CHECK(wait(started)->status == OperationStatus::cancelled);
        CHECK(code_of([&] { node("m4"); }) == ErrorCode::not_found);
    }
    SECTION("unless it is removed") {
        CHECK(wait(nodes().remove("m4", {}, "test"))->err.empty());
        CHECK(wait(started)->status == OperationStatus::cancelled);
        CHECK(code_of([&] { node("m4"); }) == ErrorCode::not_found);
    }
    SECTION("also in the next life") {
        restart();
        machines.add("m4");
        CHECK(wait(started)->err.empty());
        CHECK(node("m4")->status == NodeStatus::online);
    }
}
