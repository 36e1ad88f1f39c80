#pragma once
// The cluster of LXDs: how the LXD of this machine founds it or becomes a member, and members that come and
// go. docs/runtime-lxd.md, "Forming the cluster".
#include <string>
#include <utility>

#include "libsvc/runtime/lxd/connection.h"
#include "libsvc/runtime/machine_cluster.h"

namespace svc::lxd {

// The storage pool of a cluster; it has the same name and driver on all machines.
struct PoolPlan {
    std::string name, driver = "dir";  // name "": that of LXD's profile `default`, else svc0
    std::string size;                  // of a loop file, "30GiB"; "": LXD chooses
    std::string source;  // device or folder on this machine; "": a loop file, or a folder of LXD
};

// The name of this LXD in its cluster; "": it is alone. Throws forbidden where LXD does not trust us.
std::string trusted_member(Connection& lxd);
// LXD has been told to stop what runs on that member, and to give it nothing more.
bool is_evacuated(Connection& lxd, const std::string& member);

// This LXD among the others.
struct MemberAddress {
    std::string name, address;  // "m2", "10.77.0.12:8443"
};

// Thread-safe; holds no state. Every call can be repeated after a crash at any moment. Throws what
// Connection throws.
class Cluster final : public MachineCluster {
  public:
    // `service`: marks the cluster as that of one service, among services that differ in it.
    Cluster(Connection& lxd, Clock& clock, PoolPlan plan, const std::string& service)
        : lxd_(lxd), clock_(clock), plan_(std::move(plan)), mark_("user.svc.cluster." + service) {}

    // Where other members are to reach this LXD: what it listens on, else `host` with LXD's port.
    std::string address(const std::string& host);
    // The cluster belongs to the service's cluster of that id.
    bool is_marked(const std::string& id);
    void mark(const std::string& id);
    // Each throws conflict when this LXD has some: its first member keeps images and pools, one that joins
    // would lose them.
    void refuse_containers();
    void refuse_images();
    void refuse_pools();
    // Makes this LXD, which is alone, the first member, with the pool.
    void found(const MemberAddress& self);
    bool is_online(const std::string& member);
    // For a machine that is to join. Throws conflict when there is a member of that name.
    Json invite(const std::string& name);
    // Clears what a join() that was cut off has left in this LXD, which is alone.
    void clear_unfinished();
    // Makes this LXD, which is alone, a member. Returns when the others know it as online. `source`: of its
    // part of the pool, instead of the plan's; "": the plan's.
    void join(const MemberAddress& self, const Json& invitation, const std::string& source);

    Pool pool() override;
    void remove(const std::string& machine, bool force) override;

  private:
    std::string pool_name();
    void refuse(const char* what, const char* path);
    void make_pool();
    void give_profile_a_disk();
    Json member_config(const Json& invitation, const std::string& source);
    void await_online(const std::string& name);

    Connection& lxd_;
    Clock& clock_;
    const PoolPlan plan_;
    const std::string mark_;
};

}  // namespace svc::lxd
