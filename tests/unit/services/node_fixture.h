#pragma once
// One small node.
#include "tests/support/service_world.h"

namespace svc::test {

inline constexpr std::uint64_t gigabyte = std::uint64_t{1} << 30;

inline SimulatedOptions machine() {
    SimulatedOptions options;
    options.cpus = 2;  // times 4
    options.memory_bytes = 8 * gigabyte;
    options.disk_bytes = 30 * gigabyte;
    options.subnet = "10.0.0.1/24";
    return options;
}

inline WorldOptions node_world() {
    const SimulatedOptions small = machine();
    return {small.cpus, small.memory_bytes, small.disk_bytes, small.subnet, 10009, {}};
}

// A further service over the same records.
struct MoreNodes : NodeService {
    explicit MoreNodes(NodeServiceParts parts) : NodeService(std::move(parts)) { recover(); }
};

struct NodeFixture : ServiceWorld {
    Nodes& nodes = life->nodes;
    NodeService& service = life->node_service;

    NodeFixture() : ServiceWorld(node_world()) {}

    // Of a further service over the same records.
    NodeServiceParts parts(Runtime& of) {
        return {freezing_store, nodes,        life->removed_nodes, of,
                life->config,   life->engine, service_clock,       node_options()};
    }
    void patch(const NodePatch& change) {
        REQUIRE(wait(service.patch("node0", change, "test"))->err.empty());
    }

    static Instance instance(const std::string& id) {
        Instance made;
        made.id = InstanceId(id);
        made.resources = {2, gigabyte, 3 * gigabyte, 0};
        made.architecture = "x86_64";
        return made;
    }
    Instance reserved(const std::string& id, std::vector<ServiceEntry> services = {}) {
        Instance made = instance(id);
        made.services = std::move(services);
        const Reservation got = service.reserve(made);
        made.node = got.node;
        made.address = got.address;
        made.services = got.services;
        made.status = InstanceStatus::prepared;
        return made;
    }
};

inline ServiceEntry ports(std::uint16_t first, std::uint16_t last) {
    ServiceEntry service;
    service.port = first;
    service.port_end = last;
    service.protocols = {"tcp"};
    return service;
}

}  // namespace svc::test
