#pragma once
// This machine's part of the instances' network, and those of the others (docs/cluster-network.md).
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "libsvc/cluster/network_part.h"
#include "libsvc/cluster/unused_parts.h"
#include "libsvc/store/etcd/allotment.h"
#include "libsvc/store/membership.h"

namespace svc {

// What follow() calls, by a thread of its own. What they throw is logged; all is done again later.
struct NetworkCalls {
    std::function<void(const std::vector<PeerNetwork>& others)> tell;
    // Whether there is a node of that name. Where there is none, and its manager does not live either, for
    // the whole patience, the leader gives its part back.
    std::function<bool(const std::string& node)> is_node;
    // This manager's part was given back while it was away, and is another one's: it has to begin anew.
    std::function<void()> lost;
    // A machine that was cut off and removed meanwhile may still have containers.
    std::chrono::milliseconds patience = std::chrono::minutes(10);
};

// Thread-safe; follow() is called once. Calls throw unavailable when etcd cannot be reached.
class InstanceNetwork {
  public:
    // `root`: EtcdOptions::root; `manager`: the manager's id, `name`: that of its node.
    InstanceNetwork(etcd::Cluster& cluster, const std::string& root, std::string manager, std::string name);
    ~InstanceNetwork();  // waits for a call of follow()'s functions
    InstanceNetwork(const InstanceNetwork&) = delete;
    InstanceNetwork& operator=(const InstanceNetwork&) = delete;

    // Before the manager tells that it lives: takes its part, kept until it is given back, and publishes it
    // with the machine's addresses. `address`: where other machines reach this one; `bridge`: that of the
    // instances. Returns address and prefix of the bridge. Throws as choose_part() does.
    std::string take(const NetworkPlan& plan, const std::string& address, const std::string& bridge);
    std::vector<PeerNetwork> others() const;  // also of managers that are dead; not those that were removed
    // When managers come or go, and every 10 s: tells the parts of the others, sees to it that this manager
    // has its own, and, for the leader, gives back what nobody needs. Both outlive this object.
    void follow(Membership& membership, NetworkCalls calls);
    // For a manager that is removed from the cluster: its part is free for the next one.
    void release(const std::string& manager) { parts_.release(manager); }

  private:
    struct Bell;
    void run(const std::stop_token& stop, const Membership& membership, const NetworkCalls& calls);
    void look(const Membership& membership, const NetworkCalls& calls, UnusedParts& unused);
    void take_again(const NetworkCalls& calls);
    void release_unused(const etcd::Allotment::Shares& all, const Membership& membership,
                        const NetworkCalls& calls, UnusedParts& unused);

    etcd::Allotment parts_;
    const std::string manager_, name_;
    std::string own_;  // as take() has written it; "" before
    std::shared_ptr<Bell> bell_;
    std::shared_ptr<void> changes_;
    std::jthread thread_;  // last: uses all above
};

}  // namespace svc
