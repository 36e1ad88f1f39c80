#include "libsvc/services/nodes/node_service.h"

#include "tests/support/error_code.h"
#include "tests/unit/services/node_fixture.h"

using namespace svc;
using namespace svc::test;

TEST_CASE_METHOD(NodeFixture, "the local node is what the runtime says") {
    const auto node = service.get("node0");
    CHECK(node->cpus == 2);
    CHECK(node->runtime == "simulated");
    CHECK(node->status == NodeStatus::online);
    CHECK(node->subnet == "10.0.0.1/24");
}

TEST_CASE_METHOD(NodeFixture, "what a user has set on the node outlives a restart") {
    nodes.update("node0", [](Node& node) {
        node.cpu_allocation_rate = 8;
        node.public_address = "203.0.113.7";
    });
    const MoreNodes again(parts(runtime));
    CHECK(again.get("node0")->cpu_allocation_rate == 8);
    CHECK(again.get("node0")->public_address == "203.0.113.7");
}

TEST_CASE_METHOD(NodeFixture, "exposed services are forwarded from where the record of their node says") {
    const auto now = [&] { return runtime.nodes().front().capacity.forwards_from; };
    CHECK(now() == service.get("node0")->public_address);
    nodes.update("node0", [](Node& node) { node.public_address = "203.0.113.7"; });
    const MoreNodes again(parts(runtime));  // as after a crash between the record and the rules
    CHECK(now() == "203.0.113.7");
}

TEST_CASE_METHOD(NodeFixture, "a wanted node must exist, be online and schedulable") {
    CHECK_NOTHROW(service.check_wanted("node0"));
    CHECK(code_of([&] { service.check_wanted("other"); }) == ErrorCode::not_found);
    nodes.update("node0", [](Node& node) { node.unschedulable = true; });
    CHECK(code_of([&] { service.check_wanted("node0"); }) == ErrorCode::invalid_argument);
    CHECK(code_of([&] { reserved("a"); }) == ErrorCode::exhausted);
}

TEST_CASE_METHOD(NodeFixture, "another architecture finds no node") {
    Instance foreign = instance("a");
    foreign.architecture = "aarch64";
    CHECK(code_of([&] { service.reserve(foreign); }) == ErrorCode::exhausted);
}

TEST_CASE_METHOD(NodeFixture, "the entity tag follows what can be changed") {
    const std::string before = service.etag(*service.get("node0"));
    nodes.update("node0", [](Node& node) { node.tags = {"zone=a"}; });
    CHECK(service.etag(*service.get("node0")) != before);
}

TEST_CASE_METHOD(NodeFixture, "each field of a patch counts for the next placement") {
    Instance wanting = instance("a");
    NodePatch change;
    SECTION("cpus") {
        change.cpus = 1;
        change.cpu_allocation_rate = 1;
    }
    SECTION("memory") {
        change.memory = gigabyte;
        change.memory_allocation_rate = 0.5;
    }
    SECTION("unschedulable") {
        change.unschedulable = true;
    }
    SECTION("tags") {
        wanting.node_selector = {"fast"};
        change.tags = std::vector<std::string>{"slow"};
    }
    patch(change);
    CHECK(code_of([&] { service.reserve(wanting); }) == ErrorCode::exhausted);
    NodePatch back;
    back.cpus = 0;
    back.memory = 0;
    back.cpu_allocation_rate = 4;
    back.memory_allocation_rate = 2;
    back.unschedulable = false;
    back.tags = std::vector<std::string>{"fast", "zone=a"};
    back.public_address = "203.0.113.7";
    patch(back);
    CHECK(service.reserve(wanting).public_address == "203.0.113.7");
    CHECK(service.get("node0")->tags.size() == 2);
}

TEST_CASE_METHOD(NodeFixture, "a patch of the public address can be taken back") {
    NodePatch change;
    change.public_address = "203.0.113.7";
    patch(change);
    change.public_address = "";
    patch(change);
    CHECK(service.get("node0")->public_address == service.get("node0")->address);
    CHECK(code_of([&] { service.patch("other", change, "test"); }) == ErrorCode::not_found);
}

TEST_CASE_METHOD(NodeFixture, "the strategy is asked for at each placement") {
    Node other = *service.get("node0");
    other.name = "node1";
    other.cpus = other.cpus * 4;
    nodes.create(other);
    MoreNodes two(parts(runtime));
    CHECK(two.reserve(instance("a")).node == "node1");
    configure("scheduler.strategy", "binpack");
    CHECK(two.reserve(instance("b")).node == "node1");
    configure("scheduler.strategy", "");
    CHECK(two.reserve(instance("c")).node == "node0");
}

TEST_CASE_METHOD(NodeFixture, "a second node is known by name or address, and not to be had") {
    NodeCreate create;
    create.name = "node0";
    create.address = "10.1.1.1";
    CHECK(code_of([&] { service.create(create, "test"); }) == ErrorCode::conflict);
    create.name = "node1";
    CHECK(code_of([&] { service.create(create, "test"); }) == ErrorCode::unsupported);
    CHECK(message_of([&] { service.create(create, "test"); }) ==
          "adding node node1: runtime simulated has one node");
    create.address = service.get("node0")->address;
    CHECK(code_of([&] { service.create(create, "test"); }) == ErrorCode::conflict);
}

TEST_CASE_METHOD(NodeFixture, "the runtime's only machine is removed, and a node again when it is added") {
    const Instance held = reserved("a");
    CHECK(message_of([&] { service.remove("node0", {}, "test"); }) == "node node0 is in use by instances a");
    CHECK(code_of([&] { service.remove("other", {}, "test"); }) == ErrorCode::not_found);
    service.release_all(held);
    CHECK(wait(service.remove("node0", {}, "test"))->err.empty());
    CHECK_THAT(message_of([&] { reserved("b"); }), Catch::Contains("no nodes"));
    const MoreNodes again(parts(runtime));
    CHECK(again.list().empty());
    NodeCreate create;
    create.name = "node0";
    create.address = "127.0.0.1";
    CHECK(wait(service.create(create, "test"))->err.empty());
    CHECK(reserved("b").node == "node0");
}

TEST_CASE_METHOD(NodeFixture, "a refusal names the first ten instances of a node") {
    for (const char id : std::string_view("lkjihgfedcba")) {
        Instance small = instance({id});
        small.resources = {};
        service.reserve(small);
    }
    CHECK(message_of([&] { service.remove("node0", {}, "test"); }) ==
          "node node0 is in use by instances a, b, c, d, e, f, g, h, i, j and 2 more");
}

// What is left of a machine that had another name.
TEST_CASE_METHOD(NodeFixture, "a node in use is removed by force alone, with its instances") {
    Node old = *service.get("node0");
    old.name = "old";
    nodes.create(old);
    NodePatch closed;
    closed.unschedulable = true;
    patch(closed);
    MoreNodes two(parts(runtime));
    Instance held = instance("a");
    held.node = two.reserve(held).node;
    REQUIRE(held.node == "old");
    CHECK(message_of([&] { two.remove("old", {}, "test"); }) == "node old is in use by instances a");
    NodeRemoval removal;
    removal.force = true;
    SECTION("they can be deleted") {
        two.on_forced_removal([&](const std::string& node) {
            CHECK(node == "old");
            CHECK(code_of([&] { two.reserve(instance("late")); }) == ErrorCode::exhausted);
            two.release_all(held);
        });
        const auto done = wait(two.remove("old", removal, "test"));
        CHECK(done->err.empty());
        CHECK(done->description == "Deleting node");
        CHECK(code_of([&] { two.get("old"); }) == ErrorCode::not_found);
    }
    SECTION("they cannot") {
        two.on_forced_removal([](const std::string&) { throw Error(ErrorCode::internal, "no way"); });
        CHECK(wait(two.remove("old", removal, "test"))->err == "no way");
        CHECK(two.get("old")->status == NodeStatus::online);
        CHECK_NOTHROW(two.reserve(instance("b")));
    }
}
