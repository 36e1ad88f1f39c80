#pragma once
// The LXD of this machine in the cluster of those of all managers: founded by the first manager, joined by
// the others (docs/runtime-lxd.md, "Forming the cluster").
#include <functional>
#include <string>
#include <vector>

#include "libsvc/base/guarded.h"
#include "libsvc/cluster/peer.h"
#include "libsvc/net/http/router.h"
#include "libsvc/runtime/lxd/cluster.h"
#include "libsvc/store/etcd/allotment.h"
#include "server/cluster/leadership.h"
#include "server/options.h"
#include "server/state_directory.h"

namespace svc::server {

struct LxdMembershipParts {
    const Options& options;  // with lxd.join
    const StateDirectory& state;
    Clock& clock;
    const Leadership& leadership;
    PeerIdentity identity;
};

// One thread, but routes() and what it offers as MachineCluster. What `parts` refers to outlives it.
class LxdMembership final : public MachineCluster {
  public:
    // Throws invalid_argument for an LXD that is not on a Unix socket: its certificate changes when it joins.
    explicit LxdMembership(LxdMembershipParts parts);
    LxdMembership(const LxdMembership&) = delete;
    LxdMembership& operator=(const LxdMembership&) = delete;

    // Returns when the LXD is a member, however long the other managers take; before this manager serves
    // anything. Sets what the runtime has to know of it. What was cut off goes on. Throws conflict for an LXD
    // that has something of its own, or is a member of another cluster; cancelled when the process is told to
    // end.
    void settle(LxdSettings& settings);
    // What the leader offers managers whose LXD is alone. `admit`: NodeService::admit().
    std::vector<Route> routes(std::function<std::string(const std::string& machine)> admit);

    Pool pool() override { return cluster_.pool(); }
    // Returns when the machine's manager has begun anew, and is not taken for a node that is there. By force
    // that is waited for, but not needed.
    void remove(const std::string& machine, bool force) override;

  private:
    struct Claim {
        std::string founder;  // id of the manager whose LXD is to be the first member
        int attempt = 0;
        bool formed = false;
        static Claim parse(const std::string& text);
        std::string text() const;
    };
    // The machine that was invited last; others wait for it.
    struct Turn {
        std::string machine;
        SteadyTime until;
        bool operator==(const Turn&) const = default;
    };
    Claim claim();
    void set_formed();
    bool try_settle(LxdSettings& settings);
    bool is_member_now();
    bool adopt(const Claim& claim);
    void found();
    bool join();
    Json ask_leader(const Manager& leader) const;
    void take_turn(const std::string& machine);  // throws busy
    void remember() const;
    bool has_begun() const;
    bool waits(std::string reason);  // false
    static void leave_manager(const std::string& machine, bool force);

    const LxdMembershipParts parts_;
    const std::string manager_;  // id
    const std::string service_;  // id of the managers' cluster
    lxd::Connection lxd_;
    lxd::Cluster cluster_;
    const std::string name_;  // of the manager and of its member
    etcd::Cluster etcd_;
    etcd::Allotment claims_;
    Guarded<Turn> turn_;  // at the leader
    std::string seen_;    // the last claim, and since when
    SteadyTime seen_at_;
    std::string reason_;  // why it is no member yet
};

}  // namespace svc::server
