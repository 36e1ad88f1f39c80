// One manager leads, another one follows its records and takes over when it dies.
#include <functional>

#include "tests/unit/services/cluster_fixture.h"

using namespace svc;
using namespace svc::test;

namespace {

struct LeaderFixture : ClusterFixture {
    std::unique_ptr<Life> follower = std::make_unique<Life>(*this);

    ~LeaderFixture() { end_life(); }
    // The leader dies: nothing that it still does is stored.
    void take_over(const std::function<void()>& before_recovery = [] {}) {
        failing_store.fail_all(true);
        auto dead = std::move(life);
        dead->engine.stop(Duration(0));
        dead.reset();
        failing_store.fail_all(false);
        set_life(std::move(follower));
        before_recovery();
        life->management.recover();
    }
};

}  // namespace

TEST_CASE_METHOD(LeaderFixture, "a follower reads what the leader writes, and writes nothing") {
    const std::string id = launched_on("m2");
    CHECK(follower->instance_service.records().get(id)->status == InstanceStatus::running);
    CHECK(follower->node_service.get("m2")->status == NodeStatus::online);
    CHECK(follower->image_service.get("base")->name == "base");
    CHECK(follower->engine.list().size() == life->engine.list().size());
    NodePatch change;
    change.cpus = 2;
    wait(nodes().patch("m1", change, "test"));
    CHECK(follower->node_service.get("m1")->configured_cpus == 2);
    const std::size_t commits = failing_store.commits();
    const Life third(*this);
    CHECK(failing_store.commits() == commits);
}

TEST_CASE_METHOD(LeaderFixture, "a follower that takes over ends a launch that was in flight") {
    const std::string running = launched_on("m2");
    const std::string id = booting();
    const auto before = records().get(id);
    const std::string operation = before->launch_operation;
    take_over();
    CHECK(engine().get(operation)->status == OperationStatus::running);
    guests_report = true;
    eventually("the container waits for its guest", [&] {
        try_report(id);
        return status(id) == InstanceStatus::running;
    });
    CHECK(engine().wait(operation, std::nullopt)->err.empty());
    CHECK(records().get(id)->address == before->address);
    CHECK(status(running) == InstanceStatus::running);
    // What the first leader has given out is taken.
    InstanceCreate create = request();
    create.node = "m2";
    const auto next = records().get(launched(create));
    CHECK(next->address != records().get(running)->address);
    CHECK(next->address != before->address);
}

TEST_CASE_METHOD(LeaderFixture,
                 "a container on a node that the dead leader has not stored is made elsewhere") {
    const std::string id = booting();
    const std::string first = node_of(id);
    take_over([&] {
        life->nodes.update(first, [](Node& node) { node.unschedulable = true; });
        life->instances.update(id, [](Instance& instance) {
            instance.status = InstanceStatus::created;
            instance.node = {};
            instance.address = {};
        });
    });
    guests_report = true;
    eventually("the container runs", [&] {
        try_report(id);
        return status(id) == InstanceStatus::running;
    });
    CHECK(node_of(id) != first);
    CHECK(simulated.inspect(id)->node == node_of(id));
}
