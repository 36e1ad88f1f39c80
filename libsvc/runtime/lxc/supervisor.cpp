#include "libsvc/runtime/lxc/supervisor.h"

#include <algorithm>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/runtime/lxc/processes.h"

namespace svc::lxc {

namespace {

using std::chrono::milliseconds;
constexpr milliseconds first_delay{100};
constexpr milliseconds last_delay{30'000};
constexpr milliseconds ask_again{20};
constexpr milliseconds query_limit{10'000};

milliseconds backoff(unsigned failures) {
    return std::min(last_delay, first_delay * (1U << std::min(failures, 10U)));
}

ProcessId identify(std::int32_t pid) {
    return identify_process(pid).value_or(ProcessId{});
}

}  // namespace

Supervisor::Supervisor(std::filesystem::path helper, std::filesystem::path containers, Callbacks callbacks)
    : helper_(std::move(helper)), containers_(std::move(containers)), callbacks_(std::move(callbacks)) {}

void Supervisor::follow(const std::string& id, const RunRecord& run, bool want_agent) {
    followed_.with([&](Map& map) {
        Followed& followed = map[id];
        cancel_all(followed);
        followed = Followed{};
        followed.run = run;
        followed.want_agent = want_agent;
        watch_monitor(id, followed);
        watch_inside(id, followed);
    });
}

std::optional<Supervisor::Released> Supervisor::forget(const std::string& id) {
    return followed_.with([&](Map& map) -> std::optional<Released> {
        const auto found = map.find(id);
        if (found == map.end()) return std::nullopt;
        Followed& followed = found->second;
        cancel_all(followed);
        Released released{followed.run, std::move(followed.monitor), std::move(followed.init)};
        map.erase(found);
        return released;
    });
}

std::optional<RunRecord> Supervisor::find(const std::string& id) const {
    return followed_.with([&](const Map& map) -> std::optional<RunRecord> {
        const auto found = map.find(id);
        if (found == map.end()) return std::nullopt;
        return found->second.run;
    });
}

std::string Supervisor::agent_state(const std::string& id) const {
    return followed_.with([&](const Map& map) -> std::string {
        const auto found = map.find(id);
        if (found == map.end() || !found->second.want_agent) return "";
        return found->second.agent ? "running" : "restarting";
    });
}

std::optional<RunRecord> Supervisor::query(const std::string& id) const {
    HelperProcess process(helper_, {"query", containers_.native(), id});
    const auto reply = process.receive(query_limit);
    if (!reply || reply->message.event != HelperEvent::running) return std::nullopt;
    RunRecord run;
    run.monitor = identify(reply->message.monitor_pid);
    run.init = identify(reply->message.init_pid);
    if (run.monitor.pid == 0 || run.init.pid == 0) return std::nullopt;
    return run;
}

void Supervisor::watch_monitor(const std::string& id, Followed& followed) {
    followed.monitor = open_process(followed.run.monitor);
    auto call = [this, id] { monitor_ended(id); };
    followed.monitor_watch = followed.monitor ? watcher_.watch(followed.monitor.get(), std::move(call))
                                              : watcher_.after(milliseconds(0), std::move(call));
}

// The init, as a restart of the guest gives it a new one under the same monitor, and the agent.
void Supervisor::watch_inside(const std::string& id, Followed& followed) {
    const auto call = [this, id] { inside_ended(id); };
    followed.init = open_process(followed.run.init);
    if (followed.want_agent && followed.run.agent.pid != 0) followed.agent = open_process(followed.run.agent);
    followed.agent_since = std::chrono::steady_clock::now();
    if (followed.init) followed.init_watch = watcher_.watch(followed.init.get(), call);
    if (followed.agent) followed.agent_watch = watcher_.watch(followed.agent.get(), call);
    if (!followed.init || (followed.want_agent && !followed.agent)) enter_later(id, followed);
}

void Supervisor::enter_later(const std::string& id, Followed& followed) {
    if (followed.retry != 0 || followed.helper) return;
    followed.retry = watcher_.after(backoff(followed.failures++), [this, id] { enter(id); });
}

void Supervisor::cancel_all(Followed& followed) {
    for (Ticket* ticket : {&followed.monitor_watch, &followed.init_watch, &followed.agent_watch,
                           &followed.helper_watch, &followed.retry})
        if (*ticket != 0) watcher_.cancel(std::exchange(*ticket, 0));
}

void Supervisor::monitor_ended(const std::string& id) {
    const bool known = followed_.with([&](Map& map) {
        const auto found = map.find(id);
        if (found == map.end()) return false;
        if (found->second.monitor) reap(found->second.monitor.get());
        found->second.monitor_watch = 0;
        return true;
    });
    if (!known || callbacks_.ended(id)) return;
    followed_.with([&](Map& map) {
        if (const auto found = map.find(id); found != map.end())
            found->second.monitor_watch = watcher_.after(ask_again, [this, id] { monitor_ended(id); });
    });
}

void Supervisor::inside_ended(const std::string& id) {
    followed_.with([&](Map& map) {
        const auto found = map.find(id);
        if (found == map.end()) return;
        Followed& followed = found->second;
        const auto lived = std::chrono::steady_clock::now() - followed.agent_since;
        if (lived >= last_delay) followed.failures = 0;
        if (followed.agent && !is_alive(followed.run.agent)) {
            log::debug("agent ended", {{"container", id}});
            watcher_.cancel(std::exchange(followed.agent_watch, 0));
            followed.agent.reset();
        }
        if (followed.init && !is_alive(followed.run.init)) {
            watcher_.cancel(std::exchange(followed.init_watch, 0));
            followed.init.reset();
        }
        enter_later(id, followed);
    });
}

void Supervisor::enter(const std::string& id) {
    followed_.with([&](Map& map) {
        const auto found = map.find(id);
        if (found == map.end()) return;
        Followed& followed = found->second;
        followed.retry = 0;
        const bool agent = followed.want_agent && !followed.agent;
        followed.helper = std::make_unique<HelperProcess>(
            helper_, std::vector<std::string>{agent ? "agent" : "query", containers_.native(), id});
        followed.helper_watch = watcher_.watch(followed.helper->socket(), [this, id] { entered(id); });
    });
}

void Supervisor::entered(const std::string& id) {
    const bool changed = followed_.with([&](Map& map) {
        const auto found = map.find(id);
        if (found == map.end() || !found->second.helper) return false;
        Followed& followed = found->second;
        followed.helper_watch = 0;
        const auto reply = followed.helper->receive(milliseconds(0));
        followed.helper.reset();
        if (!reply || reply->message.event != HelperEvent::running) {
            enter_later(id, followed);
            return false;
        }
        followed.run.init = identify(reply->message.init_pid);
        if (reply->message.agent_pid != 0) followed.run.agent = identify(reply->message.agent_pid);
        for (Ticket* ticket : {&followed.init_watch, &followed.agent_watch})
            watcher_.cancel(std::exchange(*ticket, 0));
        watch_inside(id, followed);
        return true;
    });
    if (changed) tell_change(id);
}

void Supervisor::tell_change(const std::string& id) {
    if (!callbacks_.changed(id)) watcher_.after(ask_again, [this, id] { tell_change(id); });
}

}  // namespace svc::lxc
