#include "libsvc/runtime/lxc/processes/supervisor.h"

#include <fmt/format.h>

#include <algorithm>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/runtime/lxc/processes/processes.h"

namespace svc::lxc {

namespace {

using std::chrono::milliseconds;
constexpr milliseconds first_delay{100};
constexpr milliseconds last_delay{30'000};
constexpr unsigned failures_of_frozen = 3;  // how often it is looked whether a container goes on: each 0.8 s
constexpr milliseconds ask_again{20};
constexpr milliseconds query_limit{10'000};

milliseconds backoff(unsigned failures) {
    return std::min(last_delay, first_delay * (1U << std::min(failures, 10U)));
}

ProcessId identify(std::int32_t pid) {
    return identify_process(pid).value_or(ProcessId{});
}

bool take_call(const std::function<bool(const std::string&)>& call, const std::string& id) {
    try {
        return call(id);
    } catch (const Error& e) {
        log::debug("container is looked at again", {{"container", id}, {"error", e.what()}});
        return false;
    }
}

}  // namespace

Supervisor::Supervisor(std::filesystem::path containers, Callbacks callbacks)
    : containers_(std::move(containers)), callbacks_(std::move(callbacks)) {}

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

std::optional<RunHandles> Supervisor::forget(const std::string& id) {
    return followed_.with([&](Map& map) -> std::optional<RunHandles> {
        const auto found = map.find(id);
        if (found == map.end()) return std::nullopt;
        Followed& followed = found->second;
        if (!followed.monitor) followed.monitor = open_process(followed.run.monitor);
        if (!followed.init) followed.init = open_process(followed.run.init);
        cancel_all(followed);
        RunHandles handles{followed.run, std::move(followed.monitor), std::move(followed.init)};
        map.erase(found);
        return handles;
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
    HelperProcess process(callbacks_.helper_of(id), {"query", containers_.native(), id});
    const auto reply = process.receive(query_limit);
    if (!reply || reply->message.event == HelperEvent::failed)
        throw Error(ErrorCode::unavailable,
                    fmt::format("container '{}' cannot be asked whether it runs: {}", id,
                                reply ? static_cast<const char*>(reply->message.text) : "no answer"));
    if (reply->message.event != HelperEvent::running) return std::nullopt;
    RunRecord run;
    run.monitor = identify(reply->message.monitor_pid);
    run.init = identify(reply->message.init_pid);
    if (run.monitor.pid == 0 || run.init.pid == 0) return std::nullopt;
    return run;
}

void Supervisor::watch_monitor(const std::string& id, Followed& followed) {
    try {
        followed.monitor = open_process(followed.run.monitor);
        auto call = [this, id] { monitor_ended(id); };
        followed.monitor_watch = followed.monitor ? watcher_.watch(followed.monitor.get(), std::move(call))
                                                  : watcher_.after(milliseconds(0), std::move(call));
    } catch (const Error& e) {
        if (followed.blind == 0)
            log::warning("container cannot be watched for the moment",
                         {{"container", id}, {"error", e.what()}});
        followed.monitor_watch =
            watcher_.after(backoff(followed.blind++), [this, id] { watch_monitor_again(id); });
    }
}

void Supervisor::watch_monitor_again(const std::string& id) {
    followed_.with([&](Map& map) {
        if (const auto found = map.find(id); found != map.end()) watch_monitor(id, found->second);
    });
}

// Watches the init (a restart of the guest gives the container a new one under the same monitor) and the
// agent. A process that has ended, or cannot be opened now, is looked up again later.
void Supervisor::watch_inside(const std::string& id, Followed& followed) {
    const auto call = [this, id] { inside_ended(id); };
    followed.agent_since = std::chrono::steady_clock::now();
    followed.init.reset();
    followed.agent.reset();
    try {
        followed.init = open_process(followed.run.init);
        if (followed.init) followed.init_watch = watcher_.watch(followed.init.get(), call);
        if (followed.want_agent && followed.run.agent.pid != 0)
            followed.agent = open_process(followed.run.agent);
        if (followed.agent) followed.agent_watch = watcher_.watch(followed.agent.get(), call);
    } catch (const Error& e) {
        log::debug("container cannot be watched inside", {{"container", id}, {"error", e.what()}});
    }
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
    if (!known || take_call(callbacks_.ended, id)) return;
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
        if (followed.agent && has_ended(followed.agent.get())) {
            log::debug("agent ended", {{"container", id}});
            watcher_.cancel(std::exchange(followed.agent_watch, 0));
            followed.agent.reset();
        }
        if (followed.init && has_ended(followed.init.get())) {
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
        if (agent && callbacks_.frozen(id)) {
            followed.failures = failures_of_frozen;
            return enter_later(id, followed);
        }
        try {
            followed.helper = std::make_unique<HelperProcess>(
                callbacks_.helper_of(id),
                std::vector<std::string>{agent ? "agent" : "query", containers_.native(), id});
            followed.helper_watch = watcher_.watch(followed.helper->socket(), [this, id] { entered(id); });
        } catch (const Error& e) {
            followed.helper.reset();
            enter_failed(id, followed, e.what());
        }
    });
}

void Supervisor::entered(const std::string& id) {
    const bool changed = followed_.with([&](Map& map) {
        const auto found = map.find(id);
        if (found == map.end() || !found->second.helper) return false;
        Followed& followed = found->second;
        followed.helper_watch = 0;
        const auto helper = std::move(followed.helper);
        try {
            return take_answer(id, followed, *helper);
        } catch (const Error& e) {
            return enter_failed(id, followed, e.what()), false;
        }
    });
    if (changed) tell_change(id);
}

bool Supervisor::take_answer(const std::string& id, Followed& followed, HelperProcess& helper) {
    const auto reply = helper.receive(milliseconds(0));
    if (!reply) throw Error(ErrorCode::internal, "the helper ended without a word");
    if (reply->message.event == HelperEvent::not_running) return enter_later(id, followed), false;
    if (reply->message.event != HelperEvent::running)
        throw Error(ErrorCode::internal, static_cast<const char*>(reply->message.text));
    followed.run.init = identify(reply->message.init_pid);
    if (reply->message.agent_pid != 0) followed.run.agent = identify(reply->message.agent_pid);
    for (Ticket* ticket : {&followed.init_watch, &followed.agent_watch})
        watcher_.cancel(std::exchange(*ticket, 0));
    watch_inside(id, followed);
    return true;
}

// Logs the first failure, and later ones when retries have become rare.
void Supervisor::enter_failed(const std::string& id, Followed& followed, std::string_view reason) {
    const bool rare = backoff(followed.failures) == last_delay;
    if (followed.failures <= 1 || rare)
        log::warning(followed.want_agent && !followed.agent ? "agent cannot be started"
                                                            : "container cannot be looked into",
                     {{"container", id}, {"error", std::string(reason)}});
    enter_later(id, followed);
}

void Supervisor::tell_change(const std::string& id) {
    if (!take_call(callbacks_.changed, id)) watcher_.after(ask_again, [this, id] { tell_change(id); });
}

}  // namespace svc::lxc
