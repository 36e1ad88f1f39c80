#include "libsvc/runtime/lxd/lxd_runtime.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <set>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/log.h"
#include "libsvc/base/rollback.h"
#include "libsvc/runtime/lxc/container/config.h"
#include "libsvc/runtime/lxc/usage/cgroup_usage.h"
#include "libsvc/runtime/lxd/cluster.h"
#include "libsvc/runtime/lxd/exec.h"
#include "libsvc/runtime/lxd/exit_status.h"

namespace svc {

using lxd::Instance;

namespace {

constexpr const char* no_android = "Android guests need the runtime lxc";
constexpr const char* agent_log = "/var/lib/svc-agent/logs/keeper.log";

LxdOptions checked(LxdOptions options) {
    if (options.agent.empty())
        throw Error(ErrorCode::unsupported, "the runtime lxd needs the program svc-agent");
    make_directories(options.state_dir);
    return options;
}

bool runs(const FileDescriptor& pidfd) {
    pollfd ended{pidfd.get(), POLLIN, 0};
    return pidfd && ::poll(&ended, 1, 0) == 0;
}

std::uint64_t number(const Json& object, std::string_view key) {
    return static_cast<std::uint64_t>(object.at(key).as_int());
}

NetworkUsage device_usage(const std::string& name, const Json& counters) {
    return {name,
            {number(counters, "bytes_received"), number(counters, "packets_received"),
             number(counters, "errors_received"), number(counters, "packets_dropped_inbound")},
            {number(counters, "bytes_sent"), number(counters, "packets_sent"),
             number(counters, "errors_sent"), number(counters, "packets_dropped_outbound")}};
}

}  // namespace

LxdRuntime::LxdRuntime(LxdOptions options, Clock& clock)
    : options_(checked(std::move(options))),
      clock_(clock),
      cgroups_(lxc::detect_cgroup_layout()),
      lxd_(options_.target, clock),
      instances_(lxd_, options_, lxd::trusted_member(lxd_)),
      network_(options_.network),
      layers_(lxd_, instances_, options_) {
    adopt();
    events_ = std::make_unique<lxd::EventFeed>(options_.target, instances_.member(), clock_,
                                               [this](const std::string& name) { look(name); });
}

LxdRuntime::KnownPtr LxdRuntime::known(std::string_view id) {
    return known_.with([&](auto& all) {
        KnownPtr& entry = all[std::string(id)];
        if (!entry) entry = std::make_shared<Known>();
        return entry;
    });
}

lxc::ConnectedContainer LxdRuntime::connected(const ContainerSpec& spec) const {
    return {lxd::device_of(spec.id, options_), spec.address, spec.forwards, spec.allowed_endpoints};
}

void LxdRuntime::adopt() {
    std::map<std::string, lxc::ConnectedContainer> running;
    std::vector<std::string> ids;
    for (const Instance& instance : instances_.recover()) {
        const ContainerSpec& spec = instance.stored.spec;
        const KnownPtr known = this->known(spec.id);
        if (instance.once) end_once(instance, *known);
        if (!instance.running() || instance.once) continue;
        running[spec.id] = connected(spec);
        ids.push_back(spec.id);
    }
    network_.rebuild(std::move(running));
    for (const std::string& id : ids) note_run(id, *known(id));
}

// The process whose exit status tells why the container ended.
void LxdRuntime::note_run(const std::string& id, Known& known) {
    known.running = true;
    const Json state = lxd_.get(lxd::instance_path(id) + "/state");
    known.init_pid = static_cast<pid_t>(state.at("pid").as_int());
    known.init = open_pid(known.init_pid);
    known.frozen = lxd::text_of(state, "status") == lxd::frozen_status;
}

void LxdRuntime::create(const ContainerSpec& spec) {
    if (spec.android) throw Error(ErrorCode::unsupported, no_android);
    const KnownPtr known = this->known(spec.id);
    const std::lock_guard lock(known->mutex);
    std::vector<PlacedFile> files = spec.files;
    files.push_back({"/etc/hostname", spec.name + "\n", 0644});
    lxc::StoredSpec stored{spec, 0, {}};
    std::set<std::string> placed;
    for (const PlacedFile& file : files) placed.insert(file.path);
    auto old = instances_.find(spec.id);
    if (!old || !old->ready) {
        const auto held = layers_.hold(spec.layers);
        stored.placed = {placed.begin(), placed.end()};
        if (old) instances_.remove(spec.id);  // unfinished
        return instances_.make(stored, files, layers_.image_of(spec.layers));
    }
    end_once(*old, *known);
    if (old->once) old = instances_.find(spec.id);
    if (old->running() && lxc::same_container(old->stored.spec, spec)) return;
    if (old->running() || old->stored.spec.layers != spec.layers)
        throw Error(ErrorCode::conflict,
                    fmt::format("container '{}' exists with another specification", spec.id));
    if (old->captured) renew(*old);
    placed.insert(old->stored.placed.begin(), old->stored.placed.end());
    stored.placed = {placed.begin(), placed.end()};
    instances_.change(stored, files);
}

// A captured disk counts as empty, and is made so when it is needed again.
void LxdRuntime::renew(const Instance& instance) {
    instances_.replace_disk(instance, layers_.image_of(instance.stored.spec.layers));
}

void LxdRuntime::start(std::string_view text) {
    const std::string id(text);
    const KnownPtr known = this->known(id);
    const std::lock_guard lock(known->mutex);
    const Instance instance = instances_.get(id);
    end_once(instance, *known);
    if (instance.running() && !instance.once) {  // by a daemon that may have died before it started the agent
        if (instance.stored.spec.run_agent && !instance.frozen()) start_agent(id);
        return;
    }
    if (instance.captured) renew(instance);
    Rollback undo;
    network_.add(id, connected(instance.stored.spec));
    undo.add("network", [&] { network_.remove(id); });
    with_context(fmt::format("container '{}' cannot be started", id), [&] { instances_.start(instance); });
    if (!instances_.get(id).running())
        throw Error(ErrorCode::internal, fmt::format("container '{}' ended at once", id));
    undo.dismiss();
    note_run(id, *known);
    if (instance.stored.spec.run_agent) start_agent(id);
}

// The keeper of the agent has ended with the former init.
void LxdRuntime::note_restart(const Instance& instance, Known& known) {
    const std::string& id = instance.stored.spec.id;
    const pid_t before = known.init_pid;
    note_run(id, known);
    if (known.init_pid != before && !known.frozen && instance.stored.spec.run_agent) start_agent(id);
}

// A keeper inside starts the agent, and again when it fails; where one runs already, this does nothing.
void LxdRuntime::start_agent(const std::string& id) {
    const std::string agent = "/" + std::string(lxc::agent_path);
    const ExecSpec command{{agent, "keep-running", "--log", agent_log, "--", agent}, {}, false, 80, 24};
    lxd_.change(Method::post, lxd::instance_path(id) + "/exec", lxd::exec_request(command, false));
}

void LxdRuntime::end_run(const Instance& instance, Known& known, Duration grace) {
    const std::string& id = instance.stored.spec.id;
    if (instance.frozen()) instances_.set_frozen(id, false);  // so that it can shut down
    known.running = known.frozen = false;
    known.stopping = true;
    Rollback done;
    done.add("stopping", [&] { known.stopping = false; });
    instances_.stop(id, grace);
    network_.remove(id);
    known.init.reset();
}

void LxdRuntime::set_frozen(std::string_view text, bool frozen) {
    const std::string id(text);
    const KnownPtr known = this->known(id);
    const std::lock_guard lock(known->mutex);
    const Instance instance = instances_.get(id);
    if (!instance.running() || instance.once)
        throw Error(ErrorCode::conflict, fmt::format("container '{}' is not running", id));
    if (instance.frozen() != frozen) {
        Rollback undo;
        undo.add("frozen", [&] { known->frozen = instance.frozen(); });
        known->frozen = true;  // a command that is killed meanwhile may not end before the thaw
        with_context(fmt::format("container '{}' cannot be {}", id, frozen ? "frozen" : "thawed"),
                     [&] { instances_.set_frozen(id, frozen); });
        undo.dismiss();
    }
    known->frozen = frozen;
    if (instance.frozen() && !frozen && instance.stored.spec.run_agent) start_agent(id);
}

void LxdRuntime::stop(std::string_view text, Duration grace) {
    const std::string id(text);
    const KnownPtr known = this->known(id);
    const std::lock_guard lock(known->mutex);
    const auto instance = instances_.find(id);
    if (!instance) return;
    end_once(*instance, *known);
    if (instance->running() && !instance->once) return end_run(*instance, *known, grace);
    known->running = false;
    network_.remove(id);
}

void LxdRuntime::remove(std::string_view text) {
    const std::string id(text);
    const KnownPtr known = this->known(id);
    const std::lock_guard lock(known->mutex);
    const auto instance = instances_.find(id);
    if (instance) {
        end_once(*instance, *known);
        if (instance->running() && !instance->once) end_run(*instance, *known, Duration::zero());
        instances_.remove(id);
    }
    known->running = false;
    network_.remove(id);
    remove_tree(options_.state_dir / "logs" / id);
    known_.with([&](auto& all) { all.erase(id); });
}

// Ends a command that runs alone, of this daemon or an earlier one. With the container locked.
void LxdRuntime::end_once(const Instance& instance, Known& known) {
    if (!instance.once) return;
    known.once.request_stop();
    const std::string& id = instance.stored.spec.id;
    instances_.stop(id, Duration::zero());
    network_.remove(id);
    instances_.set(id, lxd::init_key, lxd::raw_lines(instance.stored.spec, options_, false));
    instances_.set(id, lxd::once_key, "");
}

int LxdRuntime::run_once(std::string_view text, const std::vector<std::string>& command, Duration limit,
                         std::stop_token stop) {
    const std::string id(text);
    const KnownPtr known = this->known(id);
    std::unique_lock lock(known->mutex);
    const Instance found = instances_.get(id);
    end_once(found, *known);
    const Instance instance = instances_.idle(id);
    if (stop.stop_requested()) throw Error(ErrorCode::cancelled, "the command was cancelled");
    if (instance.captured) renew(instance);
    const ContainerSpec& spec = instance.stored.spec;
    instances_.set(id, lxd::once_key, "true");
    Rollback undo;
    undo.add("command", [&] {
        if (!lock.owns_lock()) lock.lock();
        if (const auto now = instances_.find(id)) end_once(*now, *known);
    });
    instances_.set(id, lxd::init_key, lxd::raw_lines(spec, options_, true));
    network_.add(id, {lxd::device_of(id, options_), spec.address, {}, spec.allowed_endpoints});
    instances_.start(instance);
    known->once = std::stop_source();
    const std::stop_token taken = known->once.get_token();
    const Json operation = lxd_.begin(Method::post, lxd::instance_path(id) + "/exec",
                                      lxd::exec_request({command, {}, false, 80, 24}, false));
    lock.unlock();
    // Who cancels, or takes the container for something else, ends the command by ending the container.
    const std::stop_callback on_stop(stop, [source = known->once]() mutable { source.request_stop(); });
    const int code = with_context(command.front(),
                                  [&] { return await_command(lxd::text_of(operation, "id"), limit, taken); });
    if (taken.stop_requested()) throw Error(ErrorCode::cancelled, "the command was cancelled");
    return code;
}

int LxdRuntime::await_command(const std::string& operation, Duration limit, const std::stop_token& stop) {
    constexpr Duration step = std::chrono::seconds(1);
    const SteadyTime end = clock_.steady_now() + limit;
    while (!stop.stop_requested()) {
        const Duration left = end - clock_.steady_now();
        if (left <= Duration::zero()) throw Error(ErrorCode::unavailable, "timed out");
        if (const auto done = lxd_.wait(operation, std::min(left, step))) return lxd::exit_code_of(*done);
    }
    throw Error(ErrorCode::cancelled, "the command was cancelled");
}

ContainerInfo LxdRuntime::describe(const Instance& instance) {
    ContainerInfo info;
    info.id = instance.stored.spec.id;
    if (instance.status == "Error") {
        info.state = ContainerState::unreadable;
        info.fault = "LXD cannot read it";
    } else if (instance.running() && !instance.once) {
        info.state = ContainerState::running;
        info.started_at = instance.started_at;
        info.frozen = instance.frozen();
        info.agent_state = instance.stored.spec.run_agent ? "running" : "";
    } else {
        info.state = instance.started_before ? ContainerState::stopped : ContainerState::created;
    }
    return info;
}

std::optional<ContainerInfo> LxdRuntime::inspect(std::string_view id) try {
    const auto instance = instances_.find(id);
    if (!instance || !instance->ready) return std::nullopt;
    ContainerInfo info = describe(*instance);
    if (info.state == ContainerState::running)
        info.init_pid = static_cast<pid_t>(lxd_.get(lxd::instance_path(id) + "/state").at("pid").as_int());
    return info;
} catch (const Error&) {
    for (ContainerInfo& info : remembered())
        if (info.id == id && info.state == ContainerState::running) return std::move(info);
    throw;
}

std::vector<ContainerInfo> LxdRuntime::list() try { return listed(); } catch (const Error& e) {
    log::debug("LXD does not list its instances", {{"error", e.what()}});
    return remembered();
}

// What can be told while LXD does not answer: a container whose init lives runs on. A cluster of LXD is
// silent for a minute when the machine of its database's leader dies.
std::vector<ContainerInfo> LxdRuntime::remembered() const {
    std::vector<ContainerInfo> infos;
    known_.with([&](const auto& all) {
        for (const auto& [id, entry] : all) {
            ContainerInfo& info = infos.emplace_back();
            info.id = id;
            const std::unique_lock lock(entry->mutex, std::try_to_lock);
            if (lock && entry->running && runs(entry->init)) {
                info.state = ContainerState::running;
                info.init_pid = entry->init_pid;
                info.frozen = entry->frozen;
            } else {
                info.state = ContainerState::unreadable;
                info.fault = "LXD does not answer";
            }
        }
    });
    return infos;
}

std::vector<ContainerInfo> LxdRuntime::listed() {
    std::vector<ContainerInfo> infos;
    for (const Instance& instance : instances_.all())
        if (instance.ready && instance.name == lxd::instance_name(instance.stored.spec.id))
            infos.push_back(describe(instance));
    return infos;
}

std::optional<ContainerSpec> LxdRuntime::specification(std::string_view id) {
    const auto instance = instances_.find(id);
    return instance ? std::optional(instance->stored.spec) : std::nullopt;
}

std::vector<ContainerUsage> LxdRuntime::usage() {
    std::vector<ContainerUsage> usages;
    for (const auto& [instance, state] : instances_.running()) {
        const Json* const network = state.find("network");
        if (instance.once || network == nullptr || !network->is_object()) continue;
        const ContainerSpec& spec = instance.stored.spec;
        ContainerUsage usage;
        usage.id = spec.id;
        if (spec.disk_bytes != 0) usage.disk_limit_bytes = spec.disk_bytes;
        if (const Json* root = state.at("disk").find("root")) usage.disk_bytes = number(*root, "usage");
        for (const auto& [name, device] : network->as_object())
            if (name != "lo") usage.network.push_back(device_usage(name, device.at("counters")));
        lxc::read_group_usage(cgroups_, "lxc.payload." + instance.name, usage);
        usages.push_back(std::move(usage));
    }
    std::sort(usages.begin(), usages.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
    return usages;
}

std::unique_ptr<ExecProcess> LxdRuntime::exec(std::string_view text, const ExecSpec& spec) {
    const std::string id(text);
    const Instance instance = instances_.get(id);
    if (!instance.running() || instance.once)
        throw Error(ErrorCode::conflict, fmt::format("container '{}' is not running", id));
    if (instance.frozen()) throw Error(ErrorCode::conflict, fmt::format("container '{}' is frozen", id));
    const KnownPtr known = this->known(id);
    // The lock waits for a call that stops the container, so that its end is known for certain.
    const auto stopped = [this, id, known] {
        const std::lock_guard lock(known->mutex);
        const auto now = instances_.find(id);
        return !now || !now->running();
    };
    return lxd::run_exec(lxd_, id, spec, {stopped, [known] { return known->frozen.load(); }});
}

std::vector<LogFile> LxdRuntime::logs(std::string_view text) {
    const std::string id(text);
    const Instance instance = instances_.get(id);
    const std::filesystem::path folder = options_.state_dir / "logs" / id;
    make_directories(folder);
    std::vector<LogFile> logs;
    const auto fetch = [&](const char* name, const std::string& path) {
        ClientRequest request;
        request.path = lxd::instance_path(id) + path;
        try {
            const std::string content = lxd_.send(request).body;
            if (content.empty()) return;
            write_file_atomically(folder / name, content);
            logs.push_back({name, folder / name});
        } catch (const Error& e) {
            if (e.code() != ErrorCode::not_found) throw;
        }
    };
    if (instance.started_before || instance.running()) fetch("console.log", "/console");
    fetch("container.log", "/logs/lxc.log");
    return logs;
}

Capacity LxdRuntime::capacity() {
    const Json machine = lxd_.get("/1.0/resources");
    const Json server = lxd_.get("/1.0");
    const std::string pool = "/1.0/storage-pools/" + instances_.pool();
    const std::string driver = lxd::text_of(lxd_.get(pool), "driver");
    Capacity capacity;
    capacity.runtime = "lxd";
    capacity.android_fault = no_android;
    capacity.cpus = static_cast<std::uint32_t>(machine.at("cpu").at("total").as_int());
    capacity.memory_bytes = number(machine.at("memory"), "total");
    capacity.disk_bytes = number(lxd_.get(pool + "/resources").at("space"), "total");
    capacity.architecture = lxd::text_of(server.at("environment"), "kernel_architecture");
    capacity.address = network_.address();
    capacity.public_address = network_.public_address();
    capacity.forwards_from = network_.forwards_from();
    capacity.bridge = options_.network.bridge;
    capacity.subnet = options_.network.subnet;
    capacity.bridge_mtu = options_.network.mtu;
    capacity.storage_pool = instances_.pool();
    capacity.disk_limit_enforced = driver != "dir";
    capacity.gpus = find_gpus(options_.sysfs);
    capacity.details = Json::object({{"lxd", lxd::text_of(server.at("environment"), "server_version")},
                                     {"kernel", lxd::text_of(server.at("environment"), "kernel_version")},
                                     {"pool_driver", driver},
                                     {"cgroups", std::string(cgroups_.kind())}});
    return capacity;
}

std::vector<RuntimeNode> LxdRuntime::nodes() {
    RuntimeNode self;
    self.managed = options_.joined || instances_.member().empty();
    try {
        self.capacity = capacity();
        self.evacuated = !instances_.member().empty() && lxd::is_evacuated(lxd_, instances_.member());
        last_capacity_.with([&](Capacity& last) { last = self.capacity; });
    } catch (const Error& e) {
        log::debug("LXD does not tell what it has", {{"error", e.what()}});
        self.capacity = last_capacity_.with([](const Capacity& last) { return last; });
        self.online = false;
        self.failing = true;
        const std::string text = e.what();
        self.fault = text.starts_with("LXD: ") ? text : "LXD does not answer";
    }
    return {std::move(self)};
}

void LxdRuntime::on_event(std::function<void(const RuntimeEvent&)> listener) {
    auto shared = listener
                      ? std::make_shared<const std::function<void(const RuntimeEvent&)>>(std::move(listener))
                      : nullptr;
    listener_.with([&](auto& present) { present = std::move(shared); });
}

// Called with each connection of LXD's events: what nodes() told before may have been that LXD is silent.
void LxdRuntime::on_nodes_changed(std::function<void()> listener) {
    auto shared = listener ? std::make_shared<const std::function<void()>>(std::move(listener)) : nullptr;
    nodes_listener_.with([&](auto& present) { present = std::move(shared); });
}

void LxdRuntime::tell_nodes_changed() {
    const auto listener = nodes_listener_.with([](const auto& present) { return present; });
    if (listener) (*listener)();
}

// A member that was removed starts anew, alone and empty. Throws where LXD does not say: it is asked again
// with the next connection of the events.
void LxdRuntime::check_member() {
    if (lxd::trusted_member(lxd_) == instances_.member()) return;
    log::warning("LXD is not the member of a cluster any more that it was",
                 {{"member", instances_.member()}});
    if (options_.on_left) options_.on_left();
}

void LxdRuntime::look(const std::string& name) {
    if (name.empty()) check_member();
    std::vector<std::string> ids;
    known_.with([&](const auto& all) {
        for (const auto& [id, entry] : all)
            if (name.empty() || name == lxd::instance_name(id)) ids.push_back(id);
    });
    if (ids.empty() || name.empty()) note_change(name);
    if (name.empty()) tell_nodes_changed();
    for (const std::string& id : ids) {
        try {
            look_at(id);
        } catch (const Error& e) {
            log::debug("an instance cannot be looked at", {{"instance", id}, {"error", e.what()}});
        }
    }
}

// Of an instance that is not this service's, or was: its user ids are no container's.
void LxdRuntime::note_change(const std::string& name) try {
    instances_.note_change(name);
} catch (const Error& e) {
    log::debug("an instance cannot be looked at", {{"instance", name}, {"error", e.what()}});
    if (!name.empty()) instances_.note_change("");
}

// Whether it has ended though nobody stopped it. A guest that restarts itself has another init.
void LxdRuntime::look_at(const std::string& id) {
    const KnownPtr known = this->known(id);
    RuntimeEvent event;
    {
        const std::unique_lock lock(known->mutex, std::try_to_lock);
        if (!lock || !known->running) return;  // a call that changes it looks by itself
        const auto instance = instances_.find(id);
        if (instance && instance->running()) return note_restart(*instance, *known);
        const lxc::ExitCause cause = lxd::exit_cause(known->init.get());
        event = {RuntimeEvent::Kind::stopped, id, cause.clean, cause.reason};
        known->running = false;
        known->init.reset();
        network_.remove(id);
    }
    const auto listener = listener_.with([](const auto& present) { return present; });
    if (listener) (*listener)(event);
}

void LxdRuntime::tear_down() {
    if (!listed().empty()) throw Error(ErrorCode::busy, "containers exist still");
    events_.reset();
    network_.tear_down();
}

}  // namespace svc
