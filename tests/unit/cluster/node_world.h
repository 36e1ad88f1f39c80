#pragma once
// Simulated machines with their managers, for tests of what a leader does with them.
#include <filesystem>
#include <fstream>
#include <memory>

#include "libsvc/base/guarded.h"
#include "libsvc/cluster/remote_node.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_runtime.h"
#include "tests/support/manual_clock.h"
#include "tests/support/node_server.h"

namespace svc::test {

// One machine, whose containers outlive its manager.
struct Machine {
    Machine(const ClusterIdentity& identity, const std::filesystem::path& state)
        : sysfs(state / "sys"), server(identity, runtime, simulated.layers(), state) {}
    ContainerSpec make_container(const std::string& id, const std::string& node = "") {
        ContainerSpec spec;
        spec.id = id;
        spec.node = node;
        runtime.create(spec);
        return spec;
    }
    // A layer of this size.
    void add_layer(const std::string& name, std::uint64_t bytes) {
        struct Packed final : ArchiveStream {
            std::string text;
            std::string read(std::size_t) override { return std::exchange(text, std::string()); }
        } packed;
        packed.text = "simulated layer of bytes: " + std::to_string(bytes) + "\n";
        simulated.layers().unpack(name, packed, {});
    }

    void add_gpu(const char* vendor) const {
        const auto device = sysfs / "class/drm/renderD128/device";
        std::filesystem::create_directories(device);
        std::ofstream(device / "vendor") << vendor << "\n";
    }
    SimulatedOptions options() const {
        SimulatedOptions made;
        made.sysfs = sysfs;
        return made;
    }

    const std::filesystem::path sysfs;
    ManualClock clock;
    SimulatedRuntime simulated{clock, options()};
    FakeRuntime runtime{simulated};
    NodeServer server;
};

// A node and the leader that asks it.
struct RemoteWorld {
    RemoteWorld() { connect(7); }
    void connect(std::uint64_t as_term) {
        leader.reset();
        term = as_term;
        leader = std::make_unique<RemoteNode>(options());
    }
    RemoteNodeOptions options() {
        RemoteNodeOptions made;
        made.name = "m2";
        made.target = peer_target(identity.identity, machine.server.address());
        made.term = [this] { return term.load(); };
        made.connected = [this] { ++connections; };
        made.lost = [this](const std::string&) { ++losses; };
        made.times.pause = std::chrono::milliseconds(1);
        made.times.patience = long_wait;
        return made;
    }
    void await_connections(int count) {
        eventually("the node is connected", [&] { return connections >= count; });
    }

    TemporaryDirectory directory{std::filesystem::temp_directory_path(), "svc-node-"};
    ClusterIdentity identity;
    Machine machine{identity, directory.path() / "m2"};
    std::atomic<std::uint64_t> term{0};
    std::atomic<int> connections{0}, losses{0};
    std::unique_ptr<RemoteNode> leader;
};

}  // namespace svc::test
