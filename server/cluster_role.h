#pragma once
// What svcd has and does as one manager among several: it follows the leader, runs the containers of its own
// machine, and may lead (docs/managers.md, "Roles"). The only manager has none of it.
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libsvc/base/guarded.h"
#include "libsvc/cluster/cluster_blobs.h"
#include "libsvc/management/management_service.h"
#include "libsvc/net/server/server.h"
#include "server/cluster/candidacy.h"
#include "server/cluster/front.h"
#include "server/cluster/leadership.h"
#include "server/cluster/machine.h"
#include "server/cluster/simulated_guests.h"
#include "server/lxd_membership.h"
#include "server/machine_network.h"
#include "server/metrics/manager_metrics.h"
#include "server/options.h"
#include "server/runtime_choice.h"
#include "server/state_directory.h"

namespace svc::server {

struct ClusterRoleParts {
    Options& options;  // gets this machine's part of the instances' network, and what LXD's cluster has
    const StateDirectory& state;
    Clock& clock;
    Candidacy& candidacy;
    BlobStore& own_packages;  // of this machine
    GuestReports& reports;
    MetricsRegistry& metrics;
    std::function<void()> begin_anew;  // another manager leads; on any thread
};

// svcd makes its LXD a member of the other managers' cluster.
bool joins_lxd(const Options& options);

// One thread, but where a method says otherwise. What `parts` refers to outlives it, and so does what is
// given later. The daemon calls run(), serve(), start(), resign(), stop_machine(), stop_front() in this
// order.
class ClusterRole {
  public:
    // Settles what the runtime has to know of other machines: may wait until LXD is a member of its cluster.
    // Throws Error as MachineNetwork and LxdMembership do.
    explicit ClusterRole(ClusterRoleParts parts);
    ~ClusterRole();
    ClusterRole(const ClusterRole&) = delete;
    ClusterRole& operator=(const ClusterRole&) = delete;

    // The seams of the service. From run() on the runtime is that of all machines while this manager leads.
    void run(BuiltRuntime& own);
    Runtime& runtime() { return machine_->runtime(); }
    LayerStore& layers() { return machine_->layers(); }
    BlobStore& packages();
    MachineCluster* machine_cluster() { return lxd_.get(); }  // null: no cluster of LXDs is formed
    GuestIsUp guest_is_up();                                  // empty: guests report to their manager

    // The side of HTTP. Returns what other managers ask of this one.
    std::vector<Route> serve(ManagementService& management, const EventRows& rows,
                             const Authenticator& authenticator, Pacer& pacer);
    HttpService& before(HttpService& inner) { return front_->before(inner); }
    void adapt(const Request& request, RequestPlan& plan) { front_->adapt(request, plan); }  // thread-safe

    // `recover` and `begin` are called when this manager leads, on a thread of the candidacy.
    struct Addresses {
        std::string manager;           // where other managers reach this one
        std::vector<std::string> api;  // of its clients
    };
    void start(const Addresses& addresses, std::function<void()> recover, std::function<void()> begin);
    void resign();  // before the service stops
    // Before the server stops, and after.
    void stop_machine();
    void stop_front();

    bool leads() const { return leadership_.here(); }  // thread-safe
    // Thread-safe: the client is at an address of another machine, or of an instance there.
    bool is_elsewhere(const Peer& peer) const;
    std::vector<std::string> api_of_managers() const;  // thread-safe
    PeerIdentity identity() const;                     // the cluster's
    void describe(ManagerMetricsParts& parts) const;

  private:
    using Machines = std::vector<PeerNetwork>;
    std::unique_ptr<MachineNetwork> make_network();
    std::unique_ptr<ClusterBlobs> make_packages();
    std::unique_ptr<SimulatedGuests> make_guests();
    std::unique_ptr<LxdMembership> make_lxd();
    std::vector<Route> routes(NodeService& nodes);
    NetworkCalls network_calls();
    bool may_be_node(const std::string& name) const;
    void lead(std::uint64_t term, const std::function<void()>& recover);
    Membership& membership() const { return parts_.candidacy.membership(); }

    const ClusterRoleParts parts_;
    Guarded<Machines> machines_;  // the others
    Leadership leadership_;
    std::unique_ptr<MachineNetwork> network_;  // null of stores that tests give
    std::unique_ptr<ClusterBlobs> packages_;   // null where all managers share a folder
    std::unique_ptr<SimulatedGuests> guests_;  // null of real ones
    std::unique_ptr<LxdMembership> lxd_;       // null unless svcd joins its LXD to the others
    std::function<void(const Machines&)> set_peers_;
    Runtime* own_ = nullptr;  // of this machine
    std::unique_ptr<Machine> machine_;
    ManagementService* management_ = nullptr;
    std::unique_ptr<Front> front_;
};

}  // namespace svc::server
