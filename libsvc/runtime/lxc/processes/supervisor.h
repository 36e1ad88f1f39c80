#pragma once
// Follows running containers: notices their end, keeps their agents alive.
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "libsvc/base/guarded.h"
#include "libsvc/runtime/lxc/processes/helper_process.h"
#include "libsvc/runtime/lxc/processes/watcher.h"
#include "libsvc/runtime/lxc/records.h"

namespace svc::lxc {

// Thread-safe.
class Supervisor {
  public:
    struct Callbacks {
        // On the supervisor's thread: the monitor of `id` is gone. False: not now, ask again shortly; so it
        // is when it throws.
        std::function<bool(const std::string& id)> ended;
        // A pid of `id` changed: to be remembered. False, or an exception: not now.
        std::function<bool(const std::string& id)> changed;
    };
    Supervisor(std::filesystem::path helper, std::filesystem::path containers, Callbacks callbacks);

    // An agent that is wanted and does not run is started. What cannot be looked at, or started, for the
    // moment is tried again, later and later: a process is never taken for gone because of that.
    void follow(const std::string& id, const RunRecord& run, bool want_agent);
    // What is left to whoever ends the container; the pidfds are empty when the process had ended before
    // follow().
    struct Released {
        RunRecord run;
        FileDescriptor monitor, init;
    };
    // Nothing when `id` was not followed. No callback for it begins afterwards. Throws, and goes on
    // following, when a process cannot be opened.
    std::optional<Released> forget(const std::string& id);
    std::optional<RunRecord> find(const std::string& id) const;
    std::string agent_state(const std::string& id) const;
    // Asks a running container's monitor for its pids; nothing when it does not run. Throws when there is no
    // answer.
    std::optional<RunRecord> query(const std::string& id) const;

  private:
    using Ticket = Watcher::Ticket;
    struct Followed {
        RunRecord run;
        bool want_agent = false;
        FileDescriptor monitor, init, agent;  // pidfds
        Ticket monitor_watch = 0, init_watch = 0, agent_watch = 0, helper_watch = 0, retry = 0;
        std::unique_ptr<HelperProcess> helper;  // starts the agent, or asks for the new init
        unsigned failures = 0;                  // of the agent
        unsigned blind = 0;                     // how often the monitor could not be opened
        std::chrono::steady_clock::time_point agent_since;
    };
    using Map = std::map<std::string, Followed, std::less<>>;

    // The following run with the map locked.
    void watch_monitor(const std::string& id, Followed& followed);
    void watch_inside(const std::string& id, Followed& followed);
    void enter_later(const std::string& id, Followed& followed);
    void cancel_all(Followed& followed);
    bool take_answer(const std::string& id, Followed& followed, HelperProcess& helper);
    void enter_failed(const std::string& id, Followed& followed, std::string_view reason);
    // The following on the watcher's thread.
    void watch_monitor_again(const std::string& id);
    void monitor_ended(const std::string& id);
    void inside_ended(const std::string& id);
    void enter(const std::string& id);
    void entered(const std::string& id);
    void tell_change(const std::string& id);

    std::filesystem::path helper_, containers_;
    Callbacks callbacks_;
    Guarded<Map> followed_;
    Watcher watcher_;  // last: its thread ends before the rest goes
};

}  // namespace svc::lxc
