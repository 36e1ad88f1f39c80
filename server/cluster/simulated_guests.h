#pragma once
// Simulated guests of a machine in a cluster report to the manager that leads, as the agents of real ones do.
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "libsvc/cluster/peer.h"
#include "libsvc/management/guest_reports.h"
#include "libsvc/net/http/router.h"
#include "libsvc/runtime/runtime.h"
#include "server/cluster/leadership.h"

namespace svc::server {

// Thread-safe. What it is given outlives it. Has a thread that sends reports until the leader has taken them;
// a new leader is told of every guest that runs, since the former one may have taken reports in vain.
class SimulatedGuests {
  public:
    // `reports`: where they go when this manager leads.
    SimulatedGuests(const Leadership& leadership, GuestReports& reports, PeerIdentity identity);
    ~SimulatedGuests();
    SimulatedGuests(const SimulatedGuests&) = delete;
    SimulatedGuests& operator=(const SimulatedGuests&) = delete;

    void running(std::string_view instance_id);  // returns at once
    void follow(Runtime& runtime);               // of this machine; once
    std::vector<Route> routes();                 // what other machines send their reports to
    void stop();                                 // drops what no leader has taken

  private:
    using Ids = std::set<std::string>;
    void run(Runtime& runtime, const std::stop_token& stop);
    Ids wait(const std::stop_token& stop);
    void tell_anew(Runtime& runtime);
    bool send(const Ids& ids);
    bool send_to(const Manager& leader, const Ids& ids) const;
    Response take(const Request& request);

    const Leadership& leadership_;
    GuestReports& reports_;
    const PeerIdentity identity_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    Ids waiting_;
    std::uint64_t told_term_ = 0;  // of the leader that was told of all; the thread's
    std::jthread thread_;
};

}  // namespace svc::server
