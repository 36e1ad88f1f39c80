// The runtime contract against a node that is asked over the network, and against a cluster of three nodes.
#include <array>
#include <filesystem>
#include <memory>
#include <optional>

#include "libsvc/cluster/cluster_runtime.h"
#include "libsvc/cluster/remote_node.h"
#include "tests/contract/runtime_contract.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_membership.h"
#include "tests/support/image_package.h"
#include "tests/support/manual_clock.h"
#include "tests/support/node_server.h"

using namespace svc;
using namespace svc::test;

namespace {

// What contract worlds of simulated machines have in common.
class ContractWorld {
  public:
    ContractWorld() { write_file_atomically(package_, image_package()); }
    std::filesystem::path package() const { return package_; }
    std::filesystem::path scratch() const { return directory_.path(); }
    static std::string program(const std::string& name) { return "/bin/" + name; }
    static std::string address() { return "10.0.0.2"; }
    static std::string other_address() { return "10.0.0.3"; }
    static std::uint16_t free_port() { return 10000; }
    static std::string init() { return ""; }
    static std::vector<RuntimeEvent> await_events(const Guarded<std::vector<RuntimeEvent>>& told,
                                                  std::size_t count) {
        eventually("events are told",
                   [&] { return told.with([&](const auto& all) { return all.size() >= count; }); });
        return told.with([](const auto& all) { return all; });
    }

  protected:
    TemporaryDirectory directory_{std::filesystem::temp_directory_path(), "svc-node-"};
    std::filesystem::path package_ = directory_.path() / "package.tar.gz";
    ManualClock clock_;
    ClusterIdentity identity_;
};

class RemoteWorld : public ContractWorld {
  public:
    RemoteWorld()
        : simulated_(clock_, {}),
          server_(identity_, simulated_, simulated_.layers(), directory_.path() / "node"),
          node_({"m2", peer_target(identity_.identity, server_.address()), [] { return 7; }}) {}
    Runtime& runtime() { return node_.runtime(); }
    LayerStore& layers() { return node_.layers(); }
    void end(const char* id, bool clean) { simulated_.end(id, clean, "init exited with status 1"); }

  private:
    SimulatedRuntime simulated_;
    NodeServer server_;
    RemoteNode node_;
};

// The leader is on m1, the container of the contract on the node that is given.
class ThreeNodes : public ContractWorld {
  public:
    explicit ThreeNodes(std::string node) : node_(std::move(node)) {
        FakeMembership& all = membership_;
        all.join({"id1", "m1", servers_[0].address(), "", 0});
        all.join({"id2", "m2", servers_[1].address(), "", 0});
        all.join({"id3", "m3", servers_[2].address(), "", 0});
        cluster_.emplace(ClusterRuntimeParts{membership_, runtimes_[0], runtimes_[0].layers(),
                                             servers_[0].events(), identity_.identity, clock_, 7});
    }
    std::string node() const { return node_; }
    Runtime& runtime() { return cluster_->runtime(); }
    LayerStore& layers() { return cluster_->layers(); }
    void end(const char* id, bool clean) {
        runtimes_[node_ == "m1" ? 0 : node_ == "m2" ? 1 : 2].end(id, clean, "init exited with status 1");
    }

  private:
    NodeServer serve(std::size_t i) {
        return {identity_, runtimes_[i], runtimes_[i].layers(), directory_.path() / std::to_string(i)};
    }
    const std::string node_;
    std::array<SimulatedRuntime, 3> runtimes_{{{clock_, {}}, {clock_, {}}, {clock_, {}}}};
    std::array<NodeServer, 3> servers_{serve(0), serve(1), serve(2)};
    FakeMembership membership_{{"id1", "m1", "", "", 0}};
    std::optional<ClusterRuntime> cluster_;
};

}  // namespace

TEST_CASE("a remote node keeps the contract") {
    RemoteWorld world;
    check_runtime(world);
}

TEST_CASE("a cluster keeps the contract with containers on the leader's own node") {
    ThreeNodes world("m1");
    check_runtime(world);
}

TEST_CASE("a cluster keeps the contract with containers on another node") {
    ThreeNodes world("m3");
    check_runtime(world);
}
