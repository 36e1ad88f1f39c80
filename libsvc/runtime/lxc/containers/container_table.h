#pragma once
// The containers of this daemon, and what can be done with each. LxcRuntime hides it.
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "libsvc/base/guarded.h"
#include "libsvc/base/timer.h"
#include "libsvc/runtime/lxc/host/host.h"
#include "libsvc/runtime/lxc/lxc_runtime.h"
#include "libsvc/runtime/lxc/processes/supervisor.h"
#include "libsvc/runtime/lxc/usage/disk_usage.h"

namespace svc {

// One container. What runs of it is known to the Supervisor.
struct LxcContainer {
    std::mutex turn;  // held by whoever creates, starts, stops or removes it; guards the rest
    lxc::StoredSpec stored;
    bool exists = false;    // made and not removed
    bool started = false;   // ever
    bool fresh = false;     // made by this daemon, and not started yet: nothing of it can run
    std::string fault;      // why it could not be adopted so far: nobody knows what it is, or whether it runs
    unsigned attempts = 0;  // to adopt it
    std::shared_ptr<lxc::Supervisor::Released>
        once;  // what run_once() has begun; whoever takes it away ends it
};

void check_readable(const std::string& id, const LxcContainer& container);  // throws unavailable

class LxcRuntime::Engine {
  public:
    Engine(LxcOptions options, const Clock& clock);

    void create(const ContainerSpec& spec);
    void start(const std::string& id);
    void stop(const std::string& id, Duration grace);
    int run_once(const std::string& id, const std::vector<std::string>& command, Duration limit,
                 const std::stop_token& stop);
    void capture(const std::string& name, const std::string& id, const std::vector<std::string>& leave_out);
    void remove(const std::string& id);
    std::optional<ContainerInfo> inspect(const std::string& id);
    std::vector<ContainerInfo> list();
    std::vector<ContainerUsage> usage();
    std::unique_ptr<ExecProcess> exec(const std::string& id, const ExecSpec& spec);
    std::vector<LogFile> logs(const std::string& id);
    void tear_down();

    lxc::Host& host() { return host_; }
    void listen(std::function<void(const RuntimeEvent&)> listener);

  private:
    using ContainerPtr = std::shared_ptr<LxcContainer>;
    using Lock = std::unique_lock<std::mutex>;
    using OncePtr = std::shared_ptr<lxc::Supervisor::Released>;

    // engine_adopt.cpp
    void adopt_all();
    void adopt(const std::string& id);
    void adopt_later(const std::string& id, const ContainerPtr& container);
    void sweep(const std::string& id);
    std::optional<lxc::RunRecord> find_running(const std::string& id);
    ContainerPtr find(const std::string& id) const;     // null: unknown
    ContainerPtr require(const std::string& id) const;  // throws not_found
    ContainerPtr find_or_add(const std::string& id);
    void drop(const std::string& id, const ContainerPtr& container);
    OncePtr begin_once(const std::string& id, LxcContainer& container,
                       const std::vector<std::string>& command);
    int once_result(const std::string& id, const std::string& command);

    // The following with the container's turn.
    void try_adopting(const std::string& id, LxcContainer& container);
    void adopt_readable(const std::string& id, LxcContainer& container, lxc::StoredSpec stored);
    void follow_adopted(const std::string& id, const LxcContainer& container, const lxc::RunRecord& run);
    void set_fault(const std::string& id, LxcContainer& container, const std::string& reason);
    void clear_fault(LxcContainer& container);
    FileDescriptor kill_unreadable(const std::string& id);
    void take_over(LxcContainer& container, const ContainerSpec& spec);
    bool is_running(const std::string& id, LxcContainer& container);
    void launch(const std::string& id, LxcContainer& container);
    void follow(const std::string& id, LxcContainer& container, const lxc::RunRecord& run);
    void end(const std::string& id, const lxc::Supervisor::Released& what, const lxc::HaltSignals& halt,
             Duration grace);
    void kill_present_init(const std::string& id) const;
    void settle(const std::string& id, lxc::RunRecord run);
    void end_once(const std::string& id, LxcContainer& container);
    std::optional<lxc::Supervisor::Released> take_running(const std::string& id, LxcContainer& container);
    void stop_locked(const std::string& id, LxcContainer& container, Duration grace);
    ContainerUsage usage_of(const std::string& id, LxcContainer& container,
                            const std::map<std::string, NetworkUsage, std::less<>>& devices);
    FileDescriptor kill_locked(const std::string& id, LxcContainer& container);
    ContainerInfo describe(const std::string& id, const LxcContainer& container);

    bool wants_agent(const LxcContainer& container) const;
    // Each container takes three descriptors for as long as it runs. Throws exhausted when what is left is
    // needed to serve requests.
    static void check_descriptors(const std::string& id);
    static lxc::Supervisor::Released released(const lxc::RunRecord& run);

    bool ended(const std::string& id);  // on the supervisor's thread
    bool changed(const std::string& id);

    const Clock& clock_;
    lxc::Host host_;
    lxc::DiskUsage disk_usage_;
    Guarded<std::map<std::string, ContainerPtr>> containers_;
    Guarded<std::function<void(const RuntimeEvent&)>> listener_;
    SystemClock timer_clock_;
    lxc::Supervisor supervisor_;  // its thread calls into the rest
    Timer adoptions_;             // last: so does its
};

}  // namespace svc
