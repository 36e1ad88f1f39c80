#include "server/runtime_choice.h"

#include "libsvc/runtime/lxc/lxc_runtime.h"
#include "libsvc/runtime/simulated/simulated_runtime.h"
#include "server/holds_data.h"
#include "server/programs.h"

namespace svc::server {

namespace {

constexpr std::uint64_t files_left_free =
    1024;  // more than the store and its neighbours need to delete things

template <class Concrete>
BuiltRuntime built(std::unique_ptr<Concrete> runtime) {
    LayerStore& layers = runtime->layers();
    return {std::move(runtime), &layers};
}

BuiltRuntime build_simulated(const Options& options, const StateDirectory& state, Clock& clock,
                             GuestReports& reports) {
    SimulatedOptions simulated;
    simulated.start_delay = options.simulated.start_delay;
    simulated.stop_delay = options.simulated.stop_delay;
    simulated.fail_start_share = options.simulated.fail_share;
    simulated.cpus = options.simulated.cpus;
    simulated.memory_bytes = options.simulated.memory;
    simulated.state_dir = state.runtime("simulated");
    simulated.report_running = [&reports](std::string_view id) { reports.running(id); };
    return built(std::make_unique<SimulatedRuntime>(clock, std::move(simulated)));
}

std::unique_ptr<LxcRuntime> build_lxc(const Options& options, const StateDirectory& state, const Clock& clock,
                                      std::function<bool(const std::string& id)> has_data) {
    LxcOptions lxc;
    lxc.holds_data = std::move(has_data);
    lxc.state_dir = state.runtime("lxc");
    lxc.bridge = options.lxc.bridge;
    lxc.subnet = options.lxc.subnet;
    lxc.bridge_mtu = options.lxc.bridge_mtu;
    lxc.agent = find_program("svc-agent", options.lxc.agent, "instance-agent", "agent");
    lxc.helper = find_program("svc-lxc", options.lxc.helper, "libsvc/runtime/lxc/helper", "lxc_helper");
    lxc.agent_socket_dir = state.agent_sockets();
    lxc.id_base = options.lxc.id_base;
    lxc.id_count = options.lxc.id_count;
    lxc.ranges = options.lxc.id_ranges;
    lxc.first_range = options.lxc.id_ranges_from;
    lxc.address = options.lxc.address;
    lxc.public_address = options.lxc.public_address;
    lxc.processes = options.lxc.processes;
    lxc.layer_limits = {{options.disk_reserve, files_left_free}, options.unpacked};
    lxc.guest_ports = options.lxc.guest_ports;
    lxc.isolate = options.lxc.isolate;
    lxc.bandwidth = options.lxc.bandwidth;
    lxc.connections = options.lxc.connections;
    lxc.swap_rate = options.lxc.swap_rate;
    lxc.bytes_per_file = options.lxc.bytes_per_file;
    lxc.io = options.lxc.io;
    return std::make_unique<LxcRuntime>(std::move(lxc), clock);
}

}  // namespace

BuiltRuntime build_runtime(const Options& options, const StateDirectory& state, Clock& clock,
                           GuestReports& reports, Store& store) {
    if (options.runtime == "simulated") return build_simulated(options, state, clock, reports);
    return built(
        build_lxc(options, state, clock, [&store](const std::string& id) { return holds_data(store, id); }));
}

void tear_down(const Options& options) {
    const StateDirectory state(options.state_dir);
    if (options.runtime != "lxc") return;
    SystemClock clock;
    const auto runtime = build_lxc(options, state, clock, nullptr);
    for (const ContainerInfo& container : runtime->list()) runtime->remove(container.id);
    runtime->tear_down();
}

}  // namespace svc::server
