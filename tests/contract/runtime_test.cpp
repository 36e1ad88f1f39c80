// The runtime contract against the simulation. The one against LXC needs root and is a system test.
#include <filesystem>
#include <optional>
#include <thread>

#include "libsvc/base/file.h"
#include "libsvc/runtime/simulated/simulated_runtime.h"
#include "tests/contract/runtime_contract.h"
#include "tests/support/image_package.h"
#include "tests/support/manual_clock.h"

using namespace svc;
using namespace svc::test;

namespace {

class SimulatedWorld {
  public:
    explicit SimulatedWorld(bool persistent) {
        if (persistent) options_.state_dir = directory_.path() / "state";
        write_file_atomically(package_, image_package());
        restart();
    }
    void restart() {
        runtime_.reset();
        runtime_ = std::make_unique<SimulatedRuntime>(clock_, options_);
    }
    Runtime& runtime() { return *runtime_; }
    LayerStore& layers() { return runtime_->layers(); }
    std::filesystem::path package() const { return package_; }
    std::filesystem::path scratch() const { return directory_.path(); }
    static std::string program(const std::string& name) { return "/bin/" + name; }
    static std::string address() { return "10.0.0.2"; }
    static std::string other_address() { return "10.0.0.3"; }
    static std::uint16_t free_port() { return 10000; }
    static std::string init() { return ""; }
    void end(const char* id, bool clean) { runtime_->end(id, clean, "init exited with status 1"); }
    static std::vector<RuntimeEvent> await_events(const Guarded<std::vector<RuntimeEvent>>& told,
                                                  std::size_t) {
        return told.with([](const auto& all) { return all; });  // the simulation tells before end() returns
    }

  private:
    TemporaryDirectory directory_{std::filesystem::temp_directory_path(), "svc-runtime-"};
    std::filesystem::path package_ = directory_.path() / "package.tar.gz";
    ManualClock clock_;
    SimulatedOptions options_;
    std::unique_ptr<SimulatedRuntime> runtime_;
};

}  // namespace

TEST_CASE("the simulated runtime keeps the contract in memory") {
    SimulatedWorld world(false);
    check_runtime(world);
}

TEST_CASE("the simulated runtime keeps the contract on disk") {
    SimulatedWorld world(true);
    check_runtime(world);
}

TEST_CASE("simulated containers and layers outlive a restart") {
    SimulatedWorld world(true);
    world.layers().add(contract_layer, world.package(), {});
    world.runtime().create(contract_spec(world));
    world.runtime().start(contract_id);
    world.restart();
    CHECK(world.layers().contains(contract_layer));
    REQUIRE(world.runtime().inspect(contract_id).has_value());
    CHECK(world.runtime().inspect(contract_id)->state == ContainerState::running);
    CHECK(code_of([&] { world.layers().remove(contract_layer); }) == ErrorCode::busy);
}

TEST_CASE("simulated starts fail as often as they are told to") {
    ManualClock clock;
    SimulatedOptions options;
    options.fail_start_share = 0.25;
    SimulatedRuntime runtime(clock, options);
    int failed = 0;
    for (int i = 0; i < 400; ++i) {
        ContainerSpec spec;
        spec.id = std::to_string(i);
        runtime.create(spec);
        failed += code_of([&] { runtime.start(spec.id); }).has_value() ? 1 : 0;
    }
    CHECK(failed > 60);
    CHECK(failed < 140);
}

TEST_CASE("a simulated guest reports after the delay, unless it was stopped before") {
    ManualClock clock;
    Guarded<std::vector<std::string>> reported;
    SimulatedOptions options;
    options.start_delay = std::chrono::seconds(5);
    options.report_running = [&](std::string_view id) {
        reported.with([&](auto& all) { all.emplace_back(id); });
    };
    SimulatedRuntime runtime(clock, options);
    for (const char* id : {"stays", "goes"}) {
        ContainerSpec spec;
        spec.id = id;
        runtime.create(spec);
        runtime.start(id);
    }
    CHECK(reported.with([](auto& all) { return all.empty(); }));
    runtime.stop("goes", Duration::zero());
    while (reported.with([](auto& all) { return all.empty(); })) clock.advance(std::chrono::seconds(1));
    CHECK(reported.with([](auto& all) { return all; }) == std::vector<std::string>{"stays"});
}

TEST_CASE("a simulated hook answers as told, times out and is cancelled") {
    ManualClock clock;
    SimulatedOptions options;
    options.run_once = [](std::string_view id, const std::vector<std::string>& command) {
        return id == "c1" && command.back() == "post-stop" ? 7 : 0;
    };
    SimulatedRuntime runtime(clock, options);
    ContainerSpec spec;
    spec.id = "c1";
    runtime.create(spec);
    CHECK(runtime.run_once("c1", {"/agent", "--hook", "post-stop"}, std::chrono::seconds(1), {}) == 7);
    CHECK(runtime.run_once("c1", {"/agent", "--hook", "other"}, std::chrono::seconds(1), {}) == 0);
    const auto sleep = [&](std::stop_token stop) {
        return code_of([&] { runtime.run_once("c1", {"/bin/sleep", "10"}, std::chrono::seconds(5), stop); });
    };
    std::optional<ErrorCode> code;
    std::jthread hook([&] { code = sleep({}); });
    clock.await_waiters(2);
    clock.advance(std::chrono::seconds(5));
    hook.join();
    CHECK(code == ErrorCode::unavailable);
    std::stop_source source;
    hook = std::jthread([&] { code = sleep(source.get_token()); });
    clock.await_waiters(2);
    source.request_stop();
    hook.join();
    CHECK(code == ErrorCode::cancelled);
}
