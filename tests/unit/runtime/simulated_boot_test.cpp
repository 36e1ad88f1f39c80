#include <catch2/catch.hpp>

#include "libsvc/base/clock.h"
#include "libsvc/base/file.h"
#include "libsvc/runtime/simulated/simulated_runtime.h"

using namespace svc;

namespace {

ContainerState state_after(const std::string& former_boot, const std::string& boot) {
    const TemporaryDirectory directory{std::filesystem::temp_directory_path()};
    SystemClock clock;
    const auto options = [&](const std::string& id) {
        SimulatedOptions made;
        made.state_dir = directory.path();
        made.boot_id = id;
        return made;
    };
    {
        SimulatedRuntime runtime(clock, options(former_boot));
        ContainerSpec spec;
        spec.id = "c";
        runtime.create(spec);
        runtime.start("c");
    }
    return SimulatedRuntime(clock, options(boot)).inspect("c")->state;
}

}  // namespace

TEST_CASE("a simulated container outlives the process, and not the power of the machine") {
    CHECK(state_after("one", "one") == ContainerState::running);
    CHECK(state_after("one", "two") == ContainerState::stopped);
}
