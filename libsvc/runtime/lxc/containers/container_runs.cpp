#include "libsvc/runtime/lxc/containers/container_runs.h"

#include <fmt/format.h>

#include <chrono>

#include "libsvc/base/error.h"
#include "libsvc/base/failpoint.h"
#include "libsvc/base/file.h"
#include "libsvc/base/log.h"
#include "libsvc/base/rollback.h"

namespace svc::lxc {

using std::chrono::milliseconds;

namespace {

constexpr milliseconds container_start_limit{60'000};
constexpr std::uint64_t kept_descriptors = 48;

ProcessId identity_of(std::int32_t pid) {
    return identify_process(pid).value_or(ProcessId{});
}

}  // namespace

void check_descriptors(const std::string& id) {
    if (free_descriptors() >= kept_descriptors) return;
    throw Error(ErrorCode::exhausted,
                fmt::format("container '{}' cannot be kept running: too many open files of the service", id));
}

ContainerRuns::ContainerRuns(Host& host, ContainerTable& containers, const Clock& clock)
    : host_(host),
      containers_(containers),
      clock_(clock),
      container_end_(host, supervisor_),
      supervisor_(host.layout().containers(),
                  {[this](const std::string& id) { return on_end(id); },
                   [this](const std::string& id) { return on_change(id); },
                   [this](const std::string& id) { return host_.is_frozen(id); },
                   [this](const std::string& id) { return host_.helper_of(id); }}) {}

void ContainerRuns::listen(std::function<void(const RuntimeEvent&)> listener) {
    listener_.with([&](auto& current) { current = std::move(listener); });
}

bool ContainerRuns::wants_agent(const Container& container) const {
    return container.stored.spec.run_agent && !host_.options().agent.empty();
}

bool ContainerRuns::is_running(const std::string& id, Container& container) {
    if (container.fresh) return false;
    if (const auto run = supervisor_.find(id)) {
        if (is_alive(run->monitor)) return true;
        if (const auto handles = supervisor_.forget(id))
            container_end_.end(id, *handles, {}, Duration::zero());
        return false;
    }
    const auto run = find_run(id);
    if (!run) return false;
    if (run->once) {
        container_end_.end(id, open_run(*run), {}, Duration::zero());
        return false;
    }
    host_.records().write_run(id, *run);
    container.started = true;
    follow(id, container, *run);
    return true;
}

std::optional<RunRecord> ContainerRuns::find_run(const std::string& id) {
    host_.records().lock_out_helpers(id);
    const auto stored = host_.records().read_run(id);
    auto run = stored;
    if (!stored || stored->stopped || !is_alive(stored->monitor) || !is_alive(stored->init)) {
        if (!host_.records().monitor_may_run(id)) return std::nullopt;
        run = supervisor_.query(id);
        if (!run) return std::nullopt;
        run->once = stored && stored->once && !stored->stopped;
        const bool same = stored && stored->started_at && (run->once || stored->monitor == run->monitor);
        run->started_at = same ? stored->started_at : clock_.now();
    }
    run->agent = host_.records().read_agent(id).value_or(ProcessId{});
    return run;
}

void ContainerRuns::start(const std::string& id, Container& container) {
    const ContainerSpec& spec = container.stored.spec;
    check_descriptors(id);
    container.fresh = false;
    Rollback undo;
    undo.add("container", [&] { host_.clean_up(id); });
    host_.prepare(container.stored);
    HelperProcess helper(host_.starting_helper(),
                         {"start", host_.layout().containers().native(), id,
                          host_.layout().exit_file(id).native(), wants_agent(container) ? "agent" : "plain"});
    failpoint("runs.helper_started");
    host_.connect(spec);                                                  // while the helper works
    if (!container.started) sync_directory(host_.layout().containers());  // all below it is synced
    const auto reply = helper.receive(container_start_limit);
    failpoint("runs.helper_replied");
    if (!reply || reply->message.event != HelperEvent::running)
        throw Error(ErrorCode::internal, fmt::format("container '{}' cannot be started: {}", id,
                                                     host_.records().start_failure(id)));
    host_.disable_device_ipv6(id);
    RunRecord run;
    run.monitor = identity_of(reply->message.monitor_pid);
    run.init = identity_of(reply->message.init_pid);
    run.agent = identity_of(reply->message.agent_pid);
    run.started_at = clock_.now();
    host_.records().write_run(id, run);
    failpoint("runs.recorded");
    container.started = true;
    follow(id, container, run);
    undo.dismiss();
}

void ContainerRuns::follow(const std::string& id, const Container& container, const RunRecord& run) {
    host_.keep_range(id, run.init.pid);
    supervisor_.follow(id, run, wants_agent(container));
}

std::optional<RunHandles> ContainerRuns::take_running(const std::string& id, Container& container) {
    end_once(id, container);
    if (auto handles = supervisor_.forget(id)) return handles;
    if (const auto run = find_run(id)) return open_run(*run);
    return std::nullopt;
}

HaltSignals ContainerRuns::halt_signals(const Container& container, Duration grace) const {
    if (grace <= Duration::zero()) return {};
    try {
        return host_.halt_signals_of(container.stored.spec);
    } catch (const Error&) {
        return lxc::halt_signals("");  // the guest has replaced its own init
    }
}

void ContainerRuns::stop(const std::string& id, Container& container, Duration grace) {
    if (const auto handles = take_running(id, container))
        return container_end_.end(id, *handles, halt_signals(container, grace), grace);
    host_.clean_up(id);
}

FileDescriptor ContainerRuns::kill(const std::string& id, Container& container) {
    if (const auto handles = take_running(id, container)) return container_end_.kill(id, *handles);
    host_.clean_up(id);
    return {};
}

void ContainerRuns::end_once(const std::string& id, Container& container) {
    if (const auto once = std::exchange(container.once, nullptr))
        container_end_.end(id, *once, {}, Duration::zero());
}

bool ContainerRuns::on_end(const std::string& id) {
    const ContainerPtr container = containers_.find(id);
    if (!container) return true;
    ContainerLock lock(container->mutex, std::try_to_lock);
    if (!lock) return false;
    const auto handles = supervisor_.forget(id);
    if (!handles) return true;  // stopped or removed on request
    const ExitCause cause = host_.records().read_exit_cause(id);
    try {
        container_end_.end(id, *handles, {}, Duration::zero());
    } catch (const Error& e) {
        log::debug("container was not cleaned up",
                   {{"container", id}, {"error", e.what()}});  // stop() does it again
    }
    lock.unlock();
    log::debug("container ended", {{"container", id}, {"reason", cause.reason}});
    const auto listener = listener_.with([](const auto& current) { return current; });
    if (listener) listener({RuntimeEvent::Kind::stopped, id, cause.clean, cause.reason});
    return true;
}

bool ContainerRuns::on_change(const std::string& id) {
    const ContainerPtr container = containers_.find(id);
    if (!container) return true;
    const ContainerLock lock(container->mutex, std::try_to_lock);
    if (!lock) return false;
    if (const auto run = supervisor_.find(id)) host_.records().write_run(id, *run);
    return true;
}

}  // namespace svc::lxc
