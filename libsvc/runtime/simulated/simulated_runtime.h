#pragma once
// A runtime without containers: the same states with delays and failures that can be set, for scale tests and
// for trying the API without root. capacity() shows that it is simulated.
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/timer.h"
#include "libsvc/runtime/runtime.h"
#include "libsvc/runtime/simulated/simulated_command.h"
#include "libsvc/runtime/simulated/simulated_container.h"
#include "libsvc/runtime/simulated/simulated_journal.h"
#include "libsvc/runtime/simulated/simulated_layers.h"
#include "libsvc/runtime/simulated/simulated_nodes.h"

namespace svc {

struct SimulatedOptions {
    Duration start_delay{0};
    Duration stop_delay{0};
    double fail_start_share = 0;  // 0..1 of starts fail
    std::uint32_t cpus = 64;
    std::uint64_t memory_bytes = std::uint64_t{1} << 40;
    std::uint64_t disk_bytes = std::uint64_t{1} << 50;
    std::string subnet = "10.0.0.1/8";
    std::vector<std::string> nodes;  // names of machines, each with the above; empty: one without a name
    std::size_t max_nodes = 0;  // for machines that come later: into how many parts the subnet is divided
    std::filesystem::path
        sysfs;  // where GPUs show, of a machine with a name in the folder of that name; "": none
    std::uint64_t changed_bytes = std::uint64_t{1} << 20;  // size of a captured layer
    std::filesystem::path
        state_dir;          // layers (names alone) and containers known after a restart; "": memory only
    std::string boot_id{};  // of the machine: no container survives its power; "": the kernel is asked
    // Called when a simulated guest is up, in place of the agent's report (instance id). From a thread of the
    // runtime.
    std::function<void(std::string_view id)> report_running;
    // The result of run_once() for programs that the simulation does not know; empty: 0.
    std::function<int(std::string_view id, const std::vector<std::string>& command)> run_once;
    SimulatedStreamer streamer;  // that of every guest; empty: none streams
};

// Thread-safe. exec() knows `echo`, `cat`, `true`, `false`, `sleep` and `svc-agent take-over`, each on a
// thread of this process.
class SimulatedRuntime final : public Runtime {
  public:
    SimulatedRuntime(Clock& clock, SimulatedOptions options);
    ~SimulatedRuntime() override;
    void create(const ContainerSpec& spec) override;
    void start(std::string_view id) override;
    void stop(std::string_view id, Duration grace) override;
    void freeze(std::string_view id) override { set_frozen(id, true); }
    void thaw(std::string_view id) override { set_frozen(id, false); }
    // Knows `true`, `false` and `sleep` in any folder.
    int run_once(std::string_view id, const std::vector<std::string>& command, Duration limit,
                 std::stop_token stop) override;
    void remove(std::string_view id) override;
    std::optional<ContainerInfo> inspect(std::string_view id) override;
    std::vector<ContainerInfo> list() override;
    // Invented values: the limits of the specification, counters that grow with the time since the start.
    std::vector<ContainerUsage> usage() override;
    std::unique_ptr<ExecProcess> exec(std::string_view id, const ExecSpec& spec) override;
    std::vector<LogFile> logs(std::string_view id) override;
    Capacity capacity() override;
    std::vector<RuntimeNode> nodes() override;
    void forward_from(std::string_view node, const std::string& public_address) override {
        nodes_.forward_from(node, public_address);
    }
    void on_nodes_changed(std::function<void()> listener) override { nodes_.on_changed(std::move(listener)); }
    void on_event(std::function<void(const RuntimeEvent&)> listener) override;

    // The layers of images: packages are checked and measured, not unpacked.
    LayerStore& layers() { return layers_; }
    // For tests: ends the container as if its init had exited.
    void end(std::string_view id, bool clean, std::string reason);
    // For tests: machines come, go and cannot be reached. The containers of one that cannot go on.
    SimulatedNodes& machines() { return nodes_; }

  private:
    Capacity capacity_of_each() const;
    ContainerInfo info_of(const std::string& id, const SimulatedContainer& container) const;
    // The following with `mutex_` locked.
    SimulatedContainer& require(std::string_view id);  // throws not_found, unavailable
    bool fails_to_start();
    void save(std::string_view id, const SimulatedContainer& container);
    void save_stopped(std::string_view id, SimulatedContainer& container);
    void forget_files(const std::string& id);

    void require_idle(std::string_view id);  // throws not_found, busy
    void set_frozen(std::string_view id, bool frozen);
    int sleep_once(const std::vector<std::string>& command, Duration limit, const std::stop_token& stop);
    void report_later(std::string id, std::uint64_t generation);
    bool end_container(std::string_view id);  // false: it does not run
    std::filesystem::path log_file(const std::string& id) const;
    void write_log(const std::string& id, std::string_view text) const;
    void load();
    void end_former_boot();

    Clock& clock_;
    const SimulatedOptions options_;
    SimulatedNodes nodes_;
    SimulatedLayers layers_;
    SimulatedJournal journal_;
    std::mutex mutex_;  // guards journal_, containers_ and random_
    std::map<std::string, SimulatedContainer, std::less<>> containers_;
    std::mt19937_64 random_;  // the default seed, so that runs repeat
    std::mutex listener_mutex_;
    std::function<void(const RuntimeEvent&)> listener_;
    std::stop_source stopping_;
    Timer timer_;  // last: its calls use all of the above
};

}  // namespace svc
