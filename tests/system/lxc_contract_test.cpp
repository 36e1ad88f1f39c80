// The runtime contract against real containers.
#include <catch2/catch.hpp>

#include <signal.h>

#include "tests/contract/runtime_contract.h"
#include "tests/system/lxc_fixture.h"

using namespace svc;
using namespace svc::test;

namespace {

class LxcWorld {
  public:
    LxcWorld() : package_(fixture_.make_package(patient_init)) {}

    Runtime& runtime() { return fixture_.runtime(); }
    LayerStore& layers() { return fixture_.runtime().layers(); }
    std::filesystem::path package() const { return package_; }
    std::filesystem::path scratch() const { return fixture_.directory(); }
    static std::string program(const std::string& name) { return "/bin/" + name; }
    static std::string init() { return ""; }
    std::string address() const { return fixture_.spec("any", 2).address; }
    std::string other_address() const { return fixture_.spec("any", 3).address; }
    static std::uint16_t free_port() { return 10950; }
    void end(const char* id, bool) { ::kill(runtime().inspect(id)->init_pid, SIGKILL); }
    static std::vector<RuntimeEvent> await_events(const Guarded<std::vector<RuntimeEvent>>& told,
                                                  std::size_t count) {
        const auto events = [&] { return told.with([](const auto& all) { return all; }); };
        eventually([&] { return events().size() >= count; });
        return events();
    }

  private:
    LxcFixture fixture_;
    std::filesystem::path package_;
};

}  // namespace

TEST_CASE("LXC keeps the contract of runtimes") {
    LxcWorld world;
    check_runtime(world);
}
