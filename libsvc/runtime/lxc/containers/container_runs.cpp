// Starting, stopping, adopting: the part of the engine that deals with what runs.
#include <fmt/format.h>
#include <signal.h>

#include <array>
#include <chrono>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/log.h"
#include "libsvc/base/rollback.h"
#include "libsvc/runtime/lxc/engine.h"
#include "libsvc/runtime/lxc/processes/processes.h"

namespace svc {

using lxc::HelperEvent;
using lxc::RunRecord;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds container_start_limit{60'000};
constexpr milliseconds kill_limit{10'000};

constexpr milliseconds reboot_limit{1'000};

ProcessId identify(std::int32_t pid) {
    return identify_process(pid).value_or(ProcessId{});
}

constexpr std::uint64_t kept_descriptors = 48;

}  // namespace

lxc::Supervisor::Released LxcRuntime::Engine::released(const RunRecord& run) {
    return {run, open_process(run.monitor), open_process(run.init)};
}

bool LxcRuntime::Engine::wants_agent(const LxcContainer& container) const {
    return container.stored.spec.run_agent && !host_.options().agent.empty();
}

void LxcRuntime::Engine::check_descriptors(const std::string& id) {
    if (free_descriptors() >= kept_descriptors) return;
    throw Error(ErrorCode::exhausted,
                fmt::format("container '{}' cannot be kept running: too many open files of the service", id));
}

void LxcRuntime::Engine::start(const std::string& id) {
    const ContainerPtr container = require(id);
    const Lock turn(container->turn);
    if (!container->exists) throw Error(ErrorCode::not_found, fmt::format("container '{}' not found", id));
    check_readable(id, *container);
    end_once(id, *container);
    if (is_running(id, *container)) return;
    launch(id, *container);
}

// Sees through records that are out of date: an end not told yet, a start that outlived the daemon that began
// it.
bool LxcRuntime::Engine::is_running(const std::string& id, LxcContainer& container) {
    if (container.fresh) return false;
    if (const auto run = supervisor_.find(id)) {
        if (is_alive(run->monitor)) return true;
        if (const auto left = supervisor_.forget(id)) end(id, *left, {}, Duration::zero());
        return false;
    }
    const auto run = find_running(id);
    if (!run) return false;
    if (!run->once) return follow(id, container, *run), true;
    end(id, released(*run), {}, Duration::zero());
    return false;
}

std::optional<RunRecord> LxcRuntime::Engine::find_running(const std::string& id) {
    host_.wait_for_helpers(id);
    const auto stored = host_.read_run(id);
    auto run = stored;
    if (!stored || stored->stopped || !is_alive(stored->monitor) || !is_alive(stored->init)) {
        if (!host_.monitor_may_run(id)) return std::nullopt;
        run = supervisor_.query(id);
        if (!run) return std::nullopt;
        run->once = stored && stored->once && !stored->stopped;
        const bool same = stored && stored->started_at && (run->once || stored->monitor == run->monitor);
        run->started_at = same ? stored->started_at : clock_.now();
    }
    run->agent = host_.read_agent(id).value_or(ProcessId{});
    return run;
}

void LxcRuntime::Engine::launch(const std::string& id, LxcContainer& container) {
    const ContainerSpec& spec = container.stored.spec;
    check_descriptors(id);
    container.fresh = false;
    const bool agent = wants_agent(container);
    Rollback undo;
    undo.add("container", [&] { host_.clean_up(id); });
    host_.prepare(container.stored);
    lxc::HelperProcess helper(host_.options().helper,
                              {"start", host_.layout().containers().native(), id,
                               host_.layout().exit_file(id).native(), agent ? "agent" : "plain"});
    host_.forward_ports(spec);                                            // meanwhile
    if (!container.started) sync_directory(host_.layout().containers());  // all below it is synced
    const auto reply = helper.receive(container_start_limit);
    if (!reply || reply->message.event != HelperEvent::running)
        throw Error(ErrorCode::internal,
                    fmt::format("container '{}' cannot be started: {}", id, host_.start_failure(id)));
    RunRecord run;
    run.monitor = identify(reply->message.monitor_pid);
    run.init = identify(reply->message.init_pid);
    run.agent = identify(reply->message.agent_pid);
    run.started_at = clock_.now();
    follow(id, container, run);
    undo.dismiss();
}

void LxcRuntime::Engine::follow(const std::string& id, LxcContainer& container, const RunRecord& run) {
    host_.write_run(id, run);
    container.started = true;
    supervisor_.follow(id, run, wants_agent(container));
}

void LxcRuntime::Engine::stop(const std::string& id, Duration grace) {
    const ContainerPtr container = find(id);
    if (!container) return;
    const Lock turn(container->turn);
    check_readable(id, *container);
    if (container->exists) stop_locked(id, *container, grace);
}

std::optional<lxc::Supervisor::Released> LxcRuntime::Engine::take_running(const std::string& id,
                                                                          LxcContainer& container) {
    end_once(id, container);
    if (auto running = supervisor_.forget(id)) return running;
    if (const auto run = find_running(id)) return released(*run);
    return std::nullopt;
}

void LxcRuntime::Engine::stop_locked(const std::string& id, LxcContainer& container, Duration grace) {
    const auto running = take_running(id, container);
    if (!running) return host_.clean_up(id);
    lxc::HaltSignals halt;
    if (grace > Duration::zero()) {
        try {
            halt = host_.halt_signals_of(container.stored.spec);
        } catch (const Error&) {
            halt = lxc::halt_signals("");  // the guest has replaced its own init
        }
    }
    end(id, *running, halt, grace);
}

// For a container that goes for good. What its monitor would do first, step by step and waiting for the
// kernel each time, goes along with the namespaces or is done here.
FileDescriptor LxcRuntime::Engine::kill_locked(const std::string& id, LxcContainer& container) {
    const auto running = take_running(id, container);
    if (!running) return host_.clean_up(id), FileDescriptor();
    if (host_.monitor_cleans_up()) return end(id, *running, {}, Duration::zero()), FileDescriptor();
    const std::array<int, 2> processes = {running->monitor.get(), running->init.get()};
    for (const int process : processes) lxc::send_signal(process, SIGKILL);
    bool gone = true;
    for (const int process : processes) gone = lxc::wait_for_end(process, kill_limit) && gone;
    if (gone) return host_.clean_up_dead(id);
    return host_.clean_up(id), FileDescriptor();
}

// Asks, waits, kills; then nothing of it is left but its folder.
void LxcRuntime::Engine::end(const std::string& id, const lxc::Supervisor::Released& what,
                             const lxc::HaltSignals& halt, Duration grace) {
    const int monitor = what.monitor.get();
    const int init = what.init.get();
    for (const int signal : halt.numbers) lxc::send_signal(init, signal);
    bool gone = !halt.numbers.empty() && lxc::wait_for_end(monitor, std::chrono::ceil<milliseconds>(grace));
    if (!gone) {
        lxc::send_signal(init, SIGKILL);
        gone = lxc::wait_for_end(monitor, reboot_limit);
    }
    if (!gone) {
        // A guest that was just restarting has another init than the one we knew.
        kill_present_init(id);
        gone = lxc::wait_for_end(monitor, kill_limit);
    }
    if (!gone) {
        lxc::send_signal(monitor, SIGKILL);
        lxc::wait_for_end(monitor, kill_limit);
    }
    // Without its monitor the init is our child now.
    lxc::send_signal(init, SIGKILL);
    lxc::wait_for_end(init, kill_limit);
    settle(id, what.run);
}

void LxcRuntime::Engine::kill_present_init(const std::string& id) const {
    try {
        if (const auto now = supervisor_.query(id)) lxc::send_signal(open_process(now->init).get(), SIGKILL);
    } catch (const Error& e) {
        log::debug("container does not tell its init", {{"container", id}, {"error", e.what()}});
    }
}

void LxcRuntime::Engine::settle(const std::string& id, RunRecord run) {
    host_.clean_up(id);
    run.stopped = true;
    host_.write_run(id, run);
}

bool LxcRuntime::Engine::ended(const std::string& id) {
    const ContainerPtr container = find(id);
    if (!container) return true;
    Lock turn(container->turn, std::try_to_lock);
    if (!turn) return false;
    const auto left = supervisor_.forget(id);
    if (!left) return true;  // stopped or removed on request
    const lxc::Ending ending = host_.read_ending(id);
    try {
        end(id, *left, {}, Duration::zero());
    } catch (const Error& e) {
        log::debug("container was not cleaned up",
                   {{"container", id}, {"error", e.what()}});  // stop() does it again
    }
    turn.unlock();
    log::debug("container ended", {{"container", id}, {"reason", ending.reason}});
    const auto listener = listener_.with([](const auto& current) { return current; });
    if (listener) listener({RuntimeEvent::Kind::stopped, id, ending.clean, ending.reason});
    return true;
}

bool LxcRuntime::Engine::changed(const std::string& id) {
    const ContainerPtr container = find(id);
    if (!container) return true;
    const Lock turn(container->turn, std::try_to_lock);
    if (!turn) return false;
    if (const auto run = supervisor_.find(id)) host_.write_run(id, *run);
    return true;
}

}  // namespace svc
