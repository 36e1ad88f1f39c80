#pragma once
// A lease of etcd that is kept alive: keys that are put with it go when this process no longer renews it.
#include <cstdint>
#include <functional>
#include <thread>

#include "libsvc/store/etcd/cluster.h"

namespace svc::etcd {

// For one thread, besides its own.
class Lease {
  public:
    // Puts the keys again, with a new lease, after the former one has ended. Called by the lease's thread;
    // what it throws makes it be called again later. False: nothing is to be renewed any more.
    using Replace = std::function<bool(std::uint64_t lease)>;

    Lease(Cluster& cluster, std::chrono::seconds time_to_live, Clock& clock);
    ~Lease();  // revokes it, if etcd can be reached
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    std::uint64_t id() const { return id_; }  // before keep()
    void keep(Replace replace);

  private:
    std::uint64_t grant();
    void run(const std::stop_token& stop, const Replace& replace);
    bool renew(const Replace& replace);

    Cluster& cluster_;
    const std::chrono::seconds time_to_live_;
    Clock& clock_;
    std::uint64_t id_;  // from keep() on the thread's
    bool replaced_ = true;
    std::jthread thread_;
};

}  // namespace svc::etcd
