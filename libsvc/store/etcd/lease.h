#pragma once
// A lease of etcd: keys that are put with it go when this process no longer renews it.
#include <atomic>
#include <cstdint>

#include "libsvc/store/etcd/cluster.h"

namespace svc::etcd {

// For one thread, but for surely_lives() and age().
class Lease {
  public:
    Lease(Cluster& cluster, std::chrono::seconds time_to_live, Clock& clock);
    ~Lease();  // revokes it, if etcd can be reached
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    std::uint64_t id() const { return id_; }  // 0 before grant()
    void grant();                             // a new one; throws as Cluster::call()
    bool renew();                             // false: it has ended; throws as Cluster::call()
    Duration until_due() const;               // renew() should be called then
    // As this machine's clock tells it, with a margin: etcd has not ended the lease yet. Any thread.
    bool surely_lives() const;
    Duration age() const;  // since the request that was answered last; 0: none was. Any thread

  private:
    void lives_from(SteadyTime sent);

    Cluster& cluster_;
    const std::chrono::seconds time_to_live_;
    Clock& clock_;
    std::uint64_t id_ = 0;
    SteadyTime due_{};
    std::atomic<SteadyTime> renewed_{SteadyTime()}, lives_until_{SteadyTime()};
};

}  // namespace svc::etcd
