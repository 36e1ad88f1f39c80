// Machines that answer and cannot be used, and machines that are joined below the runtime: LXD's members.
#include "tests/unit/services/node_fixture.h"

using namespace svc;
using namespace svc::test;

namespace {

// A runtime of which the nodes alone are asked.
struct MachinesOnly final : Runtime {
    std::vector<RuntimeNode> all;
    std::vector<RuntimeNode> nodes() override { return all; }
    void forward_from(std::string_view, const std::string& public_address) override {
        all.front().capacity.forwards_from = public_address;
    }
    Capacity capacity() override { return all.front().capacity; }
    std::vector<ContainerInfo> list() override { return {}; }
    std::vector<ContainerUsage> usage() override { return {}; }
    std::vector<LogFile> logs(std::string_view) override { return {}; }
    std::optional<ContainerInfo> inspect(std::string_view) override { return std::nullopt; }
    void create(const ContainerSpec&) override {}
    void start(std::string_view) override {}
    void stop(std::string_view, Duration) override {}
    void freeze(std::string_view) override {}
    void thaw(std::string_view) override {}
    void remove(std::string_view) override {}
    int run_once(std::string_view, const std::vector<std::string>&, Duration, std::stop_token) override {
        return 0;
    }
    std::unique_ptr<ExecProcess> exec(std::string_view, const ExecSpec&) override { return nullptr; }
    void on_event(std::function<void(const RuntimeEvent&)>) override {}
};

struct FakeCluster final : MachineCluster {
    std::string driver = "btrfs", failure;
    std::vector<std::string> removed;
    std::function<void()> meanwhile = [] {};
    Pool pool() override { return {"disks", driver}; }
    void remove(const std::string& machine, bool) override {
        if (!failure.empty()) throw Error(ErrorCode::unavailable, failure);
        removed.push_back(machine);
        meanwhile();
    }
};

struct StatesFixture : NodeFixture {
    MachinesOnly machines;
    FakeCluster cluster;
    std::unique_ptr<MoreNodes> made;

    StatesFixture() {
        machines.all = {machine("m1", "10.7.0.1"), machine("m2", "10.7.0.2")};
        NodeServiceParts given = parts(machines);
        given.options.local_name = "m1";
        given.machine_cluster = &cluster;
        made = std::make_unique<MoreNodes>(given);
    }
    static RuntimeNode machine(const std::string& name, const std::string& address) {
        RuntimeNode made_of;
        made_of.name = name;
        made_of.capacity.runtime = "lxd";
        made_of.capacity.cpus = 4;
        made_of.capacity.address = address;
        made_of.capacity.subnet = "10.8.0.1/22";
        made_of.capacity.bridge = "svcbr0";
        made_of.capacity.storage_pool = "disks";
        return made_of;
    }
    RuntimeNode& m2() { return machines.all.back(); }
    std::shared_ptr<const Node> seen(const std::string& name = "m2") {
        made->follow();
        return made->get(name);
    }
    static NodeCreate addition(const std::string& name) {
        NodeCreate create;
        create.name = name;
        create.address = "10.7.0.9";
        return create;
    }
    std::string refusal(const std::function<void(NodeCreate&)>& wish) {
        NodeCreate create = addition("m9");
        wish(create);
        return message_of([&] { made->create(create, "test"); });
    }
    std::string removal(const std::string& name, const NodeRemoval& how = {}) {
        return wait(made->remove(name, how, "test"))->err;
    }
};

}  // namespace

TEST_CASE_METHOD(StatesFixture, "a machine that answers and cannot run containers is in error") {
    m2().online = false;
    m2().failing = true;
    m2().fault = "LXD does not answer";
    CHECK(seen()->status == NodeStatus::error);
    CHECK(message_of([&] { made->check_wanted("m2"); }) == "scheduling on node m2 not allowed: it is error");
    m2().failing = false;
    CHECK(seen()->status == NodeStatus::offline);
    m2().failing = true;
    CHECK(seen()->status == NodeStatus::error);
    m2() = machine("m2", "10.7.0.2");
    CHECK(seen()->status == NodeStatus::online);
}

TEST_CASE_METHOD(StatesFixture, "a machine that was evacuated below takes nothing until it is restored") {
    m2().evacuated = true;
    CHECK(seen()->status == NodeStatus::evacuated);
    CHECK_THROWS(made->check_wanted("m2"));
    CHECK(made->is_within_reach("m2"));
    m2().online = false;
    CHECK(seen()->status == NodeStatus::offline);
    m2() = machine("m2", "10.7.0.2");
    CHECK(seen()->status == NodeStatus::online);
}

TEST_CASE_METHOD(StatesFixture, "a node is managed unless its operator has joined it") {
    CHECK(seen()->managed);
    m2().managed = false;
    CHECK_FALSE(seen()->managed);
}

TEST_CASE_METHOD(StatesFixture, "what an added machine cannot have is refused") {
    CHECK_THAT(refusal([](NodeCreate& c) { c.trust_token = "t"; }), Catch::Contains("trust_token"));
    CHECK_THAT(refusal([](NodeCreate& c) { c.trust_password = "p"; }), Catch::Contains("trust_password"));
    CHECK_THAT(refusal([](NodeCreate& c) { c.network_name = "br7"; }), Catch::Contains("network_name"));
    CHECK_THAT(refusal([](NodeCreate& c) { c.network_subnet = "10.9.0.1/16"; }),
               Catch::Contains("network_subnet"));
    CHECK_THAT(refusal([](NodeCreate& c) { c.bridge_mtu = 1400; }), Catch::Contains("network_bridge_mtu"));
    CHECK(refusal([](NodeCreate& c) { c.storage_pool = "other"; }) ==
          "argument storage_pool is invalid: the pool is 'disks'");
    CHECK_THAT(refusal([](NodeCreate& c) {
                   c.storage_device = "/dev/sdb";
                   c.unmanaged = true;
               }),
               Catch::Contains("storage_device"));
    cluster.driver = "dir";
    CHECK_THAT(refusal([](NodeCreate& c) { c.storage_device = "/dev/sdb"; }),
               Catch::Contains("storage_device"));
}

TEST_CASE_METHOD(StatesFixture, "what an added machine has already may be asked for") {
    CHECK(removal("m2", {false, true}).empty());
    NodeCreate create = addition("m2");
    create.network_subnet = "10.8.0.1/22";
    create.storage_pool = "disks";
    CHECK(wait(made->create(create, "test"))->err.empty());
    CHECK(cluster.removed.empty());
}

TEST_CASE_METHOD(StatesFixture, "a removed machine leaves the cluster below, and joins it again on request") {
    CHECK(made->admit("m2").empty());
    CHECK(removal("m2").empty());
    CHECK(cluster.removed == std::vector<std::string>{"m2"});
    m2().online = false;  // the leader knows it still
    made->follow();
    CHECK(message_of([&] { (void)made->admit("m2"); }) ==
          "node m2 was removed: POST /1.0/nodes adds it again");
    NodeCreate create = addition("m2");
    create.storage_device = "/dev/sdb";
    const Started added = made->create(create, "test");
    CHECK(made->admit("m2") == "/dev/sdb");
    m2() = machine("m2", "10.7.0.2");
    made->follow();
    CHECK(wait(added)->err.empty());
    CHECK(seen()->managed);
}

// Its manager begins anew as soon as LXD has forgotten the cluster, while the operation still runs.
TEST_CASE_METHOD(StatesFixture, "a machine that is being removed is not let in again") {
    made->follow();
    std::string answer;
    cluster.meanwhile = [&] { answer = message_of([&] { (void)made->admit("m2"); }); };
    CHECK(removal("m2").empty());
    CHECK(answer == "node m2 is being removed");
}

TEST_CASE_METHOD(StatesFixture, "a node stays where its machine cannot leave the cluster below") {
    cluster.failure = "LXD: member m2 cannot be reached";
    CHECK(removal("m2") == cluster.failure);
    CHECK(seen()->status == NodeStatus::online);
    CHECK(message_of([&] { made->remove("m1", {}, "test"); }) ==
          "node m1 leads, and cannot leave the cluster until another one does");
    CHECK(removal("m1", {false, true}).empty());
}

TEST_CASE_METHOD(StatesFixture, "a machine that its operator joins is not let in, and does not leave") {
    NodeCreate create = addition("m9");
    create.unmanaged = true;
    made->create(create, "test");
    CHECK(message_of([&] { (void)made->admit("m9"); }) == "node m9 is unmanaged: its operator joins it");
    CHECK(removal("m9").empty());
    CHECK(cluster.removed.empty());
}
