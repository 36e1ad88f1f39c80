#pragma once
// A runtime without containers: the same state machine with settable delays and failures, for scale tests and
// for trying the API without root. It says what it is in capacity().
#include <atomic>
#include <filesystem>
#include <memory>

#include "libsvc/base/clock.h"
#include "libsvc/runtime/runtime.h"

namespace svc {

struct SimulatedOptions {
    Duration start_delay{0};
    Duration stop_delay{0};
    double fail_start_share = 0;  // 0..1 of starts fail
    std::uint32_t cpus = 64;
    std::uint64_t memory_bytes = std::uint64_t{1} << 40;
    std::uint64_t disk_bytes = std::uint64_t{1} << 50;
    std::string subnet = "10.0.0.1/8";
    std::uint64_t changed_bytes = std::uint64_t{1} << 20;  // what a capture finds changed
    std::filesystem::path
        state_dir;  // layers (names alone) and containers known after a restart; "": memory only
    // Called when a simulated guest is up, in place of the agent's report (instance id). From a thread of the
    // runtime.
    std::function<void(std::string_view id)> report_running;
    // What run_once() answers for programs that the simulation does not know itself; empty: they succeed.
    std::function<int(std::string_view id, const std::vector<std::string>& command)> run_once;
};

// Thread-safe. exec supports a handful of commands answered by a thread of this process: `echo`, `cat`,
// `true`, `false`, `sleep`.
class SimulatedRuntime final : public Runtime {
  public:
    SimulatedRuntime(Clock& clock, SimulatedOptions options);
    ~SimulatedRuntime() override;
    void create(const ContainerSpec& spec) override;
    void start(std::string_view id) override;
    void stop(std::string_view id, Duration grace) override;
    // Knows `true`, `false` and `sleep` in any folder.
    int run_once(std::string_view id, const std::vector<std::string>& command, Duration limit,
                 std::stop_token stop) override;
    void remove(std::string_view id) override;
    std::optional<ContainerInfo> inspect(std::string_view id) override;
    std::vector<ContainerInfo> list() override;
    // Made of what the records say: limits as given, counters that grow with the time since the start.
    std::vector<ContainerUsage> usage() override;
    std::unique_ptr<ExecProcess> exec(std::string_view id, const ExecSpec& spec) override;
    std::vector<LogFile> logs(std::string_view id) override;
    Capacity capacity() override;
    void on_event(std::function<void(const RuntimeEvent&)> listener) override;

    // The layers of images: packages are checked and measured, not unpacked.
    LayerStore& layers();
    // For tests: the container ends as if its init had.
    void end(std::string_view id, bool clean, std::string reason);

  private:
    class Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace svc
