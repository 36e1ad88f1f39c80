#pragma once
// One node over a store in memory and a simulated runtime.
#include <catch2/catch.hpp>
#include <filesystem>

#include "libsvc/runtime/simulated/simulated_runtime.h"
#include "libsvc/services/nodes/node_service.h"
#include "tests/support/config_world.h"

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

struct NodeFixture : ConfigWorld {
    Nodes nodes{store};
    TemporaryDirectory directory{std::filesystem::temp_directory_path(), "svc-nodes-"};
    SimulatedRuntime runtime{clock, machine()};
    NodeService service{parts(runtime)};

    ~NodeFixture() { engine.stop(std::chrono::hours(1)); }

    NodeServiceParts parts(Runtime& of) {
        NodeServiceOptions options;
        options.local_name = "node0";
        options.last_port = 10009;
        options.sysfs = directory.path();
        return {nodes, of, config, engine, options};
    }
    void configure(const std::string& key, const std::string& value) {
        REQUIRE(wait(config.patch({key, value}, "test"))->err.empty());
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
