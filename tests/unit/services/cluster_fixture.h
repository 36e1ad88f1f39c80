#pragma once
// Instances on several nodes of one simulated runtime, which a test switches off and on.
#include "tests/unit/services/instance_fixture.h"

namespace svc::test {

inline WorldOptions three_machines() {
    WorldOptions options;
    options.nodes = {"m1", "m2", "m3"};
    return options;
}

struct ClusterFixture : InstanceFixture {
    SimulatedNodes& machines = simulated.machines();

    explicit ClusterFixture(WorldOptions given = three_machines()) : InstanceFixture(std::move(given)) {}

    std::string launched_on(const std::string& node) {
        InstanceCreate create = request();
        create.node = node;
        return launched(create);
    }
    std::string node_of(const std::string& id) { return *records().get(id)->node; }
    std::string error_of(const std::string& id) { return *records().get(id)->error_message; }
    bool has_container(const std::string& id) { return simulated.inspect(id).has_value(); }
    void await_node(const std::string& name, NodeStatus status) {
        eventually("node " + name + " has its new status", [&] {
            const auto node = life->nodes.find(name);
            return node && node->status == status;
        });
    }
    void await_status(const std::string& id, InstanceStatus wanted) {
        turn_clock_until("the container has its new status", std::chrono::seconds(1), [&] {
            const auto instance = records().find(id);
            return instance && instance->status == wanted;
        });
    }
    void switch_off(const std::string& name) {
        machines.set_online(name, false);
        await_node(name, NodeStatus::offline);
    }
    void switch_on(const std::string& name) {
        machines.set_online(name, true);
        await_node(name, NodeStatus::online);
    }
    NodeCreate addition(const std::string& name, const std::string& address) {
        NodeCreate create;
        create.name = name;
        create.address = address;
        return create;
    }
};

}  // namespace svc::test
