#pragma once
// Follows running containers: notices their end and restarts their agents.
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "libsvc/base/guarded.h"
#include "libsvc/runtime/lxc/processes/helper_process.h"
#include "libsvc/runtime/lxc/processes/watcher.h"
#include "libsvc/runtime/lxc/records.h"

namespace svc::lxc {

// The processes of one run, for the code that ends it. A pidfd is empty when the process had ended before it
// could be opened.
struct RunHandles {
    RunRecord run;
    FileDescriptor monitor, init;
};

// Thread-safe.
class Supervisor {
  public:
    struct Callbacks {
        // Called on the supervisor's thread when the monitor of `id` has ended. Returns false, or throws, to
        // be called again after 20 ms.
        std::function<bool(const std::string& id)> ended;
        // The same when a pid of `id` has changed, for run.json.
        std::function<bool(const std::string& id)> changed;
        // Whether `id` is frozen: an agent is not started in it meanwhile, since it would be frozen there,
        // and the helper with it. Called on any thread.
        std::function<bool(const std::string& id)> frozen;
        // The program that asks and enters `id`. Called on any thread; may throw.
        std::function<std::filesystem::path(const std::string& id)> helper_of;
    };
    Supervisor(std::filesystem::path containers, Callbacks callbacks);

    // Starts the agent where it is wanted and does not run. A process that cannot be opened or started now is
    // retried after 100 ms, then later and later up to 30 s; it does not count as ended meanwhile.
    void follow(const std::string& id, const RunRecord& run, bool want_agent);
    // Stops following. Nothing: `id` was not followed. No callback for `id` begins afterwards. Throws, and
    // continues to follow, when a process cannot be opened.
    std::optional<RunHandles> forget(const std::string& id);
    std::optional<RunRecord> find(const std::string& id) const;
    std::string agent_state(const std::string& id) const;
    // Asks the monitor of a container for the pids. Nothing: the container does not run. Throws unavailable
    // when there is no answer.
    std::optional<RunRecord> query(const std::string& id) const;

  private:
    using Ticket = Watcher::Ticket;
    struct Followed {
        RunRecord run;
        bool want_agent = false;
        FileDescriptor monitor, init, agent;  // pidfds
        Ticket monitor_watch = 0, init_watch = 0, agent_watch = 0, helper_watch = 0, retry = 0;
        std::unique_ptr<HelperProcess> helper;  // starts the agent, or asks for the new init
        unsigned failures = 0;                  // to start the agent, in a row
        unsigned blind = 0;                     // failures to open the monitor, in a row
        std::chrono::steady_clock::time_point agent_since;
    };
    using Map = std::map<std::string, Followed, std::less<>>;

    // With the map locked:
    void watch_monitor(const std::string& id, Followed& followed);
    void watch_inside(const std::string& id, Followed& followed);
    void enter_later(const std::string& id, Followed& followed);
    void cancel_all(Followed& followed);
    bool take_answer(const std::string& id, Followed& followed, HelperProcess& helper);
    void enter_failed(const std::string& id, Followed& followed, std::string_view reason);
    // On the watcher's thread:
    void watch_monitor_again(const std::string& id);
    void monitor_ended(const std::string& id);
    void inside_ended(const std::string& id);
    void enter(const std::string& id);
    void entered(const std::string& id);
    void tell_change(const std::string& id);

    std::filesystem::path containers_;
    Callbacks callbacks_;
    Guarded<Map> followed_;
    Watcher watcher_;  // last: its thread uses all above
};

}  // namespace svc::lxc
