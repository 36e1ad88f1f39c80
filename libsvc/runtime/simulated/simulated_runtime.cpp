#include "libsvc/runtime/simulated/simulated_runtime.h"

#include <algorithm>
#include <random>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"
#include "libsvc/base/unfinished_files.h"
#include "libsvc/runtime/simulated/simulated_usage.h"

namespace svc {

namespace {

constexpr int container_stopped_code = 129;

std::filesystem::path below(const std::filesystem::path& directory, std::string_view name) {
    return directory.empty() ? directory : directory / name;
}

std::filesystem::path journal_in(const std::filesystem::path& directory) {
    if (!directory.empty()) make_directories(directory / "logs");
    for (const auto& folder : {directory, directory / "logs"}) remove_unfinished_files(folder);
    return below(directory, "containers.log");
}

}  // namespace

SimulatedRuntime::SimulatedRuntime(Clock& clock, SimulatedOptions options)
    : clock_(clock),
      options_(std::move(options)),
      nodes_(capacity_of_each(), options_.nodes, options_.max_nodes),
      layers_(below(options_.state_dir, "layers"), options_.changed_bytes,
              [this](std::string_view id) { require_idle(id); }),
      journal_(journal_in(options_.state_dir)),
      timer_(clock, "simulated") {
    load();
}

SimulatedRuntime::~SimulatedRuntime() {
    stopping_.request_stop();
}

void SimulatedRuntime::create(const ContainerSpec& spec) {
    const std::string node = nodes_.place_of(spec.node);
    layers_.hold(spec.layers);
    std::unique_lock lock(mutex_);
    const auto [at, is_new] = containers_.try_emplace(spec.id);
    SimulatedContainer& container = at->second;
    if (is_new) container.node = node;
    if (container.node != node) {
        const std::string where = container.node;
        lock.unlock();
        layers_.drop(spec.layers);
        throw Error(ErrorCode::conflict, "container " + quoted(spec.id) + " is on node " + where);
    }
    const bool running = container.state == ContainerState::running;
    container.limits = {spec.cpus, spec.memory_bytes, spec.disk_bytes, spec.processes};
    const Interned<std::vector<std::string>> added = spec.layers;
    const Interned<std::vector<std::string>> dropped =
        running ? added : std::exchange(container.layers, added);
    save(spec.id, container);
    if (is_new) journal_.sync();  // as the other engines: a container that was acknowledged is there
    lock.unlock();
    layers_.drop(dropped);
}

void SimulatedRuntime::start(std::string_view id) {
    std::unique_lock lock(mutex_);
    SimulatedContainer& container = require(id);
    if (container.state == ContainerState::running) return;
    if (fails_to_start()) {
        write_log(std::string(id), "the simulated init was told to fail\n");
        throw Error(ErrorCode::internal, "simulated failure to start");
    }
    container.state = ContainerState::running;
    container.started_at = clock_.now();
    const std::uint64_t generation = ++container.generation;
    save(id, container);
    lock.unlock();
    report_later(std::string(id), generation);
}

void SimulatedRuntime::stop(std::string_view id, Duration) {
    {
        std::lock_guard lock(mutex_);
        if (require(id).state != ContainerState::running) return;
    }
    if (options_.stop_delay > Duration::zero()) clock_.wait(stopping_.get_token(), options_.stop_delay);
    end_container(id);
}

void SimulatedRuntime::set_frozen(std::string_view id, bool frozen) {
    const std::lock_guard lock(mutex_);
    SimulatedContainer& container = require(id);
    if (container.state != ContainerState::running)
        throw Error(ErrorCode::conflict, "container " + quoted(id) + " is not running");
    if (std::exchange(container.frozen, frozen) != frozen) save(id, container);
}

int SimulatedRuntime::run_once(std::string_view id, const std::vector<std::string>& command, Duration limit,
                               std::stop_token stop) {
    if (command.empty()) throw Error(ErrorCode::invalid_argument, "command is required");
    require_idle(id);
    if (stop.stop_requested()) throw Error(ErrorCode::cancelled, join(command, " ") + " was cancelled");
    const std::string name = std::filesystem::path(command[0]).filename();
    if (name == "true") return 0;
    if (name == "false") return 1;
    if (name == "sleep") return sleep_once(command, limit, stop);
    return options_.run_once ? options_.run_once(id, command) : 0;
}

void SimulatedRuntime::remove(std::string_view id) {
    {
        std::lock_guard lock(mutex_);
        if (!containers_.contains(id)) return;
        require(id);
    }
    end_container(id);
    std::unique_lock lock(mutex_);
    const auto found = containers_.find(id);
    if (found == containers_.end()) return;
    const auto layers = std::move(found->second.layers);
    containers_.erase(found);
    forget_files(std::string(id));
    lock.unlock();
    layers_.drop(layers);
}

std::optional<ContainerInfo> SimulatedRuntime::inspect(std::string_view id) {
    std::lock_guard lock(mutex_);
    const auto found = containers_.find(id);
    if (found == containers_.end()) return std::nullopt;
    return info_of(found->first, found->second);
}

ContainerInfo SimulatedRuntime::info_of(const std::string& id, const SimulatedContainer& container) const {
    ContainerInfo info = to_info(id, container);
    info.fault = nodes_.fault_of(container.node);
    if (!info.fault.empty()) info.state = ContainerState::unreadable;
    return info;
}

std::vector<ContainerInfo> SimulatedRuntime::list() {
    std::lock_guard lock(mutex_);
    std::vector<ContainerInfo> all;
    all.reserve(containers_.size());
    for (const auto& [id, container] : containers_) all.push_back(info_of(id, container));
    return all;
}

std::vector<ContainerUsage> SimulatedRuntime::usage() {
    const Time now = clock_.now();
    std::lock_guard lock(mutex_);
    std::vector<ContainerUsage> all;
    all.reserve(containers_.size());
    for (const auto& [id, container] : containers_)
        if (container.state == ContainerState::running && nodes_.fault_of(container.node).empty())
            all.push_back(simulated_usage(id, container.limits, now - container.started_at.value_or(now)));
    return all;
}

std::unique_ptr<ExecProcess> SimulatedRuntime::exec(std::string_view id, const ExecSpec& spec) {
    std::lock_guard lock(mutex_);
    SimulatedContainer& container = require(id);
    if (container.state != ContainerState::running)
        throw Error(ErrorCode::invalid_argument, "container " + quoted(id) + " is not running");
    if (container.frozen) throw Error(ErrorCode::conflict, "container " + quoted(id) + " is frozen");
    container.commands.remove_if([](const auto& command) { return command.expired(); });
    return start_simulated_command(clock_, spec, options_.streamer, container.commands.emplace_back());
}

std::vector<LogFile> SimulatedRuntime::logs(std::string_view id) {
    const auto file = log_file(std::string(id));
    if (file.empty() || !std::filesystem::exists(file)) return {};
    return {{"console.log", file}};
}

Capacity SimulatedRuntime::capacity() {
    const auto all = nodes();
    return all.empty() ? capacity_of_each() : all.front().capacity;
}

std::vector<RuntimeNode> SimulatedRuntime::nodes() {
    std::vector<RuntimeNode> all = nodes_.list();
    if (options_.sysfs.empty()) return all;
    for (RuntimeNode& node : all) node.capacity.gpus = find_gpus(options_.sysfs / node.name);
    return all;
}

Capacity SimulatedRuntime::capacity_of_each() const {
    Capacity capacity;
    capacity.runtime = "simulated";
    capacity.cpus = options_.cpus;
    capacity.memory_bytes = options_.memory_bytes;
    capacity.disk_bytes = options_.disk_bytes;
    capacity.architecture = "x86_64";
    capacity.address = capacity.public_address = capacity.forwards_from = "127.0.0.1";
    capacity.bridge = "none";
    capacity.subnet = options_.subnet;
    capacity.storage_pool = "none";
    capacity.details = Json::object({{"simulated", true}});
    return capacity;
}

void SimulatedRuntime::on_event(std::function<void(const RuntimeEvent&)> listener) {
    std::lock_guard lock(listener_mutex_);
    listener_ = std::move(listener);
}

void SimulatedRuntime::end(std::string_view id, bool clean, std::string reason) {
    if (!end_container(id)) return;
    if (!clean) write_log(std::string(id), reason + "\n");
    std::lock_guard lock(listener_mutex_);
    if (listener_) listener_({RuntimeEvent::Kind::stopped, std::string(id), clean, std::move(reason)});
}

SimulatedContainer& SimulatedRuntime::require(std::string_view id) {
    const auto found = containers_.find(id);
    if (found == containers_.end())
        throw Error(ErrorCode::not_found, "container " + quoted(id) + " not found");
    nodes_.require_online(found->second.node);
    return found->second;
}

void SimulatedRuntime::require_idle(std::string_view id) {
    std::lock_guard lock(mutex_);
    if (require(id).state == ContainerState::running)
        throw Error(ErrorCode::busy, "container " + quoted(id) + " is running");
}

int SimulatedRuntime::sleep_once(const std::vector<std::string>& command, Duration limit,
                                 const std::stop_token& stop) {
    std::stop_source ended;
    const std::stop_callback by_caller(stop, [&] { ended.request_stop(); });
    const std::stop_callback by_runtime(stopping_.get_token(), [&] { ended.request_stop(); });
    const Duration wanted = parse_duration(command.size() < 2 ? "0s" : command[1] + "s");
    if (!clock_.wait(ended.get_token(), std::min(wanted, limit)))
        throw Error(ErrorCode::cancelled, join(command, " ") + " was cancelled");
    if (wanted > limit) throw Error(ErrorCode::unavailable, join(command, " ") + " timed out");
    return 0;
}

bool SimulatedRuntime::fails_to_start() {
    return std::uniform_real_distribution<double>(0, 1)(random_) < options_.fail_start_share;
}

void SimulatedRuntime::report_later(std::string id, std::uint64_t generation) {
    if (!options_.report_running) return;
    timer_.after(options_.start_delay, [this, id = std::move(id), generation] {
        const bool still_up = [&] {
            std::lock_guard lock(mutex_);
            const auto found = containers_.find(id);
            return found != containers_.end() && found->second.state == ContainerState::running &&
                   found->second.generation == generation;
        }();
        if (still_up) options_.report_running(id);
    });
}

bool SimulatedRuntime::end_container(std::string_view id) {
    std::list<std::weak_ptr<SimulatedCommand>> commands;
    {
        std::lock_guard lock(mutex_);
        const auto found = containers_.find(id);
        if (found == containers_.end() || found->second.state != ContainerState::running) return false;
        commands.swap(found->second.commands);
        save_stopped(id, found->second);
    }
    for (const auto& command : commands)
        if (const auto running = command.lock()) running->end(container_stopped_code);
    return true;
}

std::filesystem::path SimulatedRuntime::log_file(const std::string& id) const {
    return below(below(options_.state_dir, "logs"), id.empty() ? id : id + ".log");
}

void SimulatedRuntime::save(std::string_view id, const SimulatedContainer& container) {
    if (options_.state_dir.empty()) return;
    journal_.put(id, to_json(container).dump());
    if (!journal_.is_long(containers_.size())) return;
    SimulatedJournal::Copy copy;
    for (const auto& [each, its] : containers_) copy.put(each, to_json(its).dump());
    journal_.replace(copy);
}

void SimulatedRuntime::save_stopped(std::string_view id, SimulatedContainer& container) {
    container.state = ContainerState::stopped;
    container.started_at.reset();
    container.frozen = false;
    save(id, container);
}

void SimulatedRuntime::write_log(const std::string& id, std::string_view text) const {
    if (!options_.state_dir.empty()) write_file_atomically(log_file(id), text);
}

void SimulatedRuntime::forget_files(const std::string& id) {
    journal_.remove(id);
    if (!options_.state_dir.empty()) std::filesystem::remove(log_file(id));
}

void SimulatedRuntime::load() {
    journal_.read([this](const std::string& id, std::optional<std::string_view> stored) {
        if (!stored) return void(containers_.erase(id));
        try {
            containers_.insert_or_assign(id, simulated_container_from_json(Json::parse(*stored)));
        } catch (const Error& e) {  // an incomplete line
            log::warning("simulated container cannot be read", {{"container", id}, {"error", e.what()}});
        }
    });
    end_former_boot();
    for (const auto& [id, container] : containers_) {
        layers_.hold(container.layers);
        if (container.state == ContainerState::running) report_later(id, container.generation);
    }
}

// The journal may have lost what was last written to it, so that it names containers that were stopped.
void SimulatedRuntime::end_former_boot() {
    if (options_.state_dir.empty()) return;
    const auto file = options_.state_dir / "boot_id";
    const std::string boot =
        options_.boot_id.empty() ? read_file("/proc/sys/kernel/random/boot_id", 64) : options_.boot_id;
    const std::string former = std::filesystem::exists(file) ? read_file(file, 64) : boot;
    if (former != boot)
        for (auto& [id, container] : containers_)
            if (container.state == ContainerState::running) save_stopped(id, container);
    if (former != boot || !std::filesystem::exists(file)) write_file_atomically(file, boot);
}

}  // namespace svc
