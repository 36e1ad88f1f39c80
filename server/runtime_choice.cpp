#include "server/runtime_choice.h"

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/runtime/lxc/lxc_runtime.h"
#include "libsvc/runtime/simulated/simulated_runtime.h"
#include "libsvc/services/nodes/local_node.h"
#include "server/holds_data.h"
#include "server/lxd_choice.h"
#include "server/process/patience.h"
#include "server/programs.h"

namespace svc::server {

namespace {

constexpr std::uint64_t files_left_free =
    1024;  // more than the store and its neighbours need to delete things

// With a network that knows other machines.
template <class Concrete>
BuiltRuntime built(std::unique_ptr<Concrete> runtime) {
    LayerStore& layers = runtime->layers();
    const auto set_peers = [network = &runtime->network()](const auto& peers) { network->set_peers(peers); };
    return {std::move(runtime), &layers, set_peers};
}

// Managers of a cluster have machines of their own each.
std::string name_of_simulated(const Options& options, std::uint32_t number) {
    const std::string name = "sim" + std::to_string(number);
    if (options.manager_listen.empty()) return name;
    return (options.node_name.empty() ? host_node_name() : options.node_name) + "-" + name;
}

BuiltRuntime build_simulated(const Options& options, const StateDirectory& state, Clock& clock,
                             GuestIsUp guest_is_up) {
    SimulatedOptions simulated;
    simulated.start_delay = options.simulated.start_delay;
    simulated.stop_delay = options.simulated.stop_delay;
    simulated.fail_start_share = options.simulated.fail_share;
    simulated.cpus = options.simulated.cpus;
    simulated.memory_bytes = options.simulated.memory;
    for (std::uint32_t i = 1; i <= options.simulated.nodes; ++i)
        simulated.nodes.push_back(name_of_simulated(options, i));
    if (!options.simulated.part.empty()) simulated.subnet = options.simulated.part;
    simulated.state_dir = state.runtime("simulated");
    simulated.streamer = options.simulated.streamer;
    simulated.report_running = std::move(guest_is_up);
    auto runtime = std::make_unique<SimulatedRuntime>(clock, std::move(simulated));
    LayerStore& layers = runtime->layers();
    return {std::move(runtime), &layers};
}

void find_helpers(LxcOptions& lxc, const LxcSettings& settings) {
    lxc.launcher = settings.launcher;
    const bool own = settings.launcher == lxc::LauncherKind::own;
    lxc.launch_helper = find_program("svc-launch", settings.launch_helper, "libsvc/runtime/lxc/launcher",
                                     "launch_helper", own ? Missing::refused : Missing::allowed);
    const bool liblxc_may_wait = settings.launcher != lxc::LauncherKind::liblxc && !lxc.launch_helper.empty();
    lxc.helper = find_program("svc-lxc", settings.helper, "libsvc/runtime/lxc/helper", "lxc_helper",
                              liblxc_may_wait ? Missing::allowed : Missing::refused);
}

std::unique_ptr<LxcRuntime> build_lxc(const Options& options, const StateDirectory& state, const Clock& clock,
                                      std::function<bool(const std::string& id)> has_data) {
    LxcOptions lxc;
    lxc.holds_data = std::move(has_data);
    lxc.state_dir = state.runtime("lxc");
    lxc.bridge = options.lxc.bridge;
    lxc.subnet = options.lxc.subnet;
    lxc.bridge_mtu = options.lxc.bridge_mtu;
    lxc.cluster = peer_options(options);
    lxc.agent = find_program("svc-agent", options.lxc.agent, "instance-agent", "agent");
    find_helpers(lxc, options.lxc);
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

std::string why_unlimited(const Capacity& capacity) {
    for (const char* const detail : {"disk_quota", "pool_driver"})
        if (const Json* const value = capacity.details.find(detail); value != nullptr && value->is_string())
            return ": " + std::string(detail) + " is " + quoted(value->as_string());
    return "";
}

void require_disk_limits(Runtime& runtime) {
    const Capacity capacity = runtime.capacity();
    if (capacity.disk_limit_enforced) return;
    throw Error(ErrorCode::unsupported, "require_disk_limits is set, and runtime " + capacity.runtime +
                                            " cannot limit the disks of instances on this machine" +
                                            why_unlimited(capacity));
}

template <class Concrete>
void remove_all(Concrete& runtime) {
    for (const ContainerInfo& container : runtime.list()) runtime.remove(container.id);
    runtime.tear_down();
}

BuiltRuntime choose_runtime(const Options& options, const StateDirectory& state, Clock& clock,
                            GuestIsUp guest_is_up, Store& store, std::function<void()> on_left) {
    if (options.runtime == "simulated") return build_simulated(options, state, clock, std::move(guest_is_up));
    if (options.runtime == "lxd")
        return built(process::when_it_answers("LXD", clock,
                                              [&] { return build_lxd(options, state, clock, on_left); }));
    return built(
        build_lxc(options, state, clock, [&store](const std::string& id) { return holds_data(store, id); }));
}

}  // namespace

BuiltRuntime build_runtime(const Options& options, const StateDirectory& state, Clock& clock,
                           GuestIsUp guest_is_up, Store& store, std::function<void()> on_left) {
    BuiltRuntime made =
        choose_runtime(options, state, clock, std::move(guest_is_up), store, std::move(on_left));
    if (options.require_disk_limits) require_disk_limits(*made.runtime);
    return made;
}

void tear_down(const Options& options) {
    const StateDirectory state(options.state_dir);
    SystemClock clock;
    if (options.runtime == "lxc") remove_all(*build_lxc(options, state, clock, nullptr));
    if (options.runtime == "lxd") {
        Options last = options;
        // No disk is made any more, and an LXD that has left its cluster has no pool.
        if (last.lxd.pool.empty()) last.lxd.pool = "none";
        remove_all(*build_lxd(last, state, clock));
    }
}

}  // namespace svc::server
