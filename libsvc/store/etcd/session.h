#pragma once
// The presence of this manager in etcd: a thread keeps its lease, puts its keys again after the lease was
// lost, and campaigns for the lead.
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "libsvc/store/etcd/leadership.h"
#include "libsvc/store/etcd/presence.h"

namespace svc::etcd {

// Thread-safe, but for lead() and join(): one of them is called, once.
class Session {
  public:
    Session(Cluster& cluster, const EtcdOptions& options, Clock& clock, Members& members, Lease& lease,
            Leadership& leadership, Counters& counters);
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    void lead();                                                   // throws busy, unsupported
    void join(std::string address, std::vector<std::string> api);  // throws conflict, unsupported
    void campaign();                                               // after join()

  private:
    void begin();
    void run(const std::stop_token& stop);
    bool pause(const std::stop_token& stop);
    void step(const std::stop_token& stop);
    void keep();
    bool is_announced();
    bool may_lead();
    void try_to_lead(const std::stop_token& stop);
    void wake();

    const EtcdOptions options_;
    Clock& clock_;
    Members& members_;
    Lease& lease_;
    Leadership& leadership_;
    Presence presence_;
    Counters& counters_;
    bool placed_ = true;  // the keys have the lease as it is
    bool failing_ = false;
    std::string told_;      // why this manager does not lead
    std::string not_here_;  // why the others do not know it
    std::atomic<bool> campaigning_{false};
    std::mutex mutex_;
    std::condition_variable_any woken_;
    bool wake_ = false;
    std::shared_ptr<void> watching_;
    std::jthread thread_;
};

}  // namespace svc::etcd
