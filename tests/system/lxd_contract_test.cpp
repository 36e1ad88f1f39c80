// The runtime contract against a real LXD: tests/support/lxd_machine runs this program beside one.
#include <signal.h>

#include <catch2/catch.hpp>
#include <cstdlib>

#include "libsvc/runtime/lxd/lxd_runtime.h"
#include "tests/contract/runtime_contract.h"
#include "tests/support/eventually.h"
#include "tests/support/tcp_relay.h"
#include "tests/system/lxc_fixture.h"

using namespace svc;
using namespace svc::test;

namespace {

Target lxd_target() {
    Target target;
    target.unix_path = ::getenv("SVC_LXD_SOCKET");
    return target;
}

class LxdWorld {
  public:
    explicit LxdWorld(const Target& lxd = lxd_target()) {
        options_.target = lxd;
        options_.state_dir = directory_.path() / "lxd";
        options_.network.bridge = "svctest";
        options_.network.subnet = "10.201.7.1/24";
        options_.agent = ::getenv("SVC_AGENT");
        package_ = busybox_package(directory_.path(), patient_init);
        runtime_ = std::make_unique<LxdRuntime>(options_, clock_);
    }
    ~LxdWorld() {
        for (const ContainerInfo& info : runtime_->list()) runtime_->remove(info.id);
        for (const std::string& layer : layers().list()) layers().remove(layer);
        runtime_->tear_down();
    }
    LxdWorld(const LxdWorld&) = delete;
    LxdWorld& operator=(const LxdWorld&) = delete;

    Runtime& runtime() { return *runtime_; }
    LayerStore& layers() { return runtime_->layers(); }
    std::filesystem::path package() const { return package_; }
    std::filesystem::path scratch() const { return directory_.path(); }
    static std::string program(const std::string& name) { return "/bin/" + name; }
    static std::string init() { return ""; }
    static std::string address() { return "10.201.7.2"; }
    static std::string other_address() { return "10.201.7.3"; }
    static std::uint16_t free_port() { return 10950; }
    void end(const char* id, bool) { ::kill(runtime().inspect(id)->init_pid, SIGKILL); }
    static std::vector<RuntimeEvent> await_events(const Guarded<std::vector<RuntimeEvent>>& told,
                                                  std::size_t count) {
        const auto events = [&] { return told.with([](const auto& all) { return all; }); };
        eventually([&] { return events().size() >= count; });
        return events();
    }

  private:
    TemporaryDirectory directory_{"/var/tmp", "svc-lxd-test-"};
    SystemClock clock_;
    LxdOptions options_;
    std::filesystem::path package_;
    std::unique_ptr<LxdRuntime> runtime_;
};

}  // namespace

TEST_CASE("LXD keeps the contract of runtimes") {
    LxdWorld world;
    check_runtime(world);
}

TEST_CASE("a guest of LXD has ids of its own, no LXD inside, and its limits") {
    LxdWorld world;
    world.layers().add(contract_layer, world.package(), {});
    ContainerSpec spec = contract_spec(world);
    spec.processes = 77;
    spec.files = {{"/var/lib/placed/file", "placed\n", 0600}};
    world.runtime().create(spec);
    world.runtime().start(contract_id);
    const auto inside = [&](const std::string& script) {
        return shell_inside(world.runtime(), contract_id, script).output;
    };
    CHECK(inside("cat /proc/self/uid_map").find(" 65536\n") != std::string::npos);
    CHECK(inside("test -e /dev/lxd || echo none") == "none\n");
    CHECK(inside("cat /var/lib/placed/file; stat -c '%a %u' /var/lib/placed/file; hostname") ==
          "placed\n600 0\nsvc-" + std::string(contract_id) + "\n");
    CHECK(world.runtime().usage().at(0).process_limit == 77);
}

TEST_CASE("a container of LXD runs on while LXD does not answer") {
    TcpRelay way(lxd_target());
    LxdWorld world(Target::parse(way.endpoint()));
    world.layers().add(contract_layer, world.package(), {});
    world.runtime().create(contract_spec(world));
    const auto state = [&] { return world.runtime().list().at(0).state; };
    way.cut();
    CHECK(world.runtime().list().at(0).fault == "LXD does not answer");
    way.mend();
    world.runtime().start(contract_id);
    const pid_t init = world.runtime().inspect(contract_id)->init_pid;
    way.cut();
    CHECK(state() == ContainerState::running);
    CHECK(world.runtime().inspect(contract_id)->init_pid == init);
    ::kill(init, SIGKILL);
    eventually("it has ended", [&] { return state() == ContainerState::unreadable; });
    CHECK_THROWS_AS(world.runtime().inspect(contract_id), Error);
    way.mend();
    eventually("it is read again", [&] { return state() == ContainerState::stopped; });
}

TEST_CASE("a port of the node leads into a container of LXD") {
    LxdWorld world;
    world.layers().add(contract_layer, world.package(), {});
    ContainerSpec spec = contract_spec(world);
    spec.forwards = {{80, LxdWorld::free_port(), 1, true, false, true}};
    world.runtime().create(spec);
    world.runtime().start(contract_id);
    ExecSpec server;
    // LXD takes a connection before the guest listens, so that the first one may be lost.
    server.command = {"sh", "-c", "while echo inside | nc -l -p 80; do :; done"};
    const auto listening = world.runtime().exec(contract_id, server);
    const std::string address = world.runtime().capacity().public_address;
    CHECK(eventually([&] {
        return run_command({"/bin/busybox", "nc", "-w", "5", address, std::to_string(LxdWorld::free_port())},
                           patience)
                   .output == "inside\n";
    }));
}
