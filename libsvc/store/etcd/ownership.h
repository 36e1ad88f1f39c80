#pragma once
// Keeps two managers from working on the same records: a key with a lease says who does, and a key without
// one fences off whoever has lost it.
#include <atomic>
#include <cstdint>
#include <string>

#include "libsvc/store/etcd/keys.h"
#include "libsvc/store/etcd/lease.h"

namespace svc::etcd {

// Thread-safe.
class Ownership {
  public:
    // Takes it, also from an earlier process of the same manager. Throws busy while another manager has it.
    // When it is destroyed, it gives it back.
    Ownership(Cluster& cluster, const EtcdOptions& options, Clock& clock);

    // The revision of the owner's key for as long as this manager may change anything.
    Revision fence() const { return fence_; }
    void lose();  // another manager is the owner: tells it once

  private:
    void take();
    bool take_from(const Page& holder);
    bool take_again(std::uint64_t lease);
    std::string described() const;

    Cluster& cluster_;
    const EtcdOptions options_;
    const Keys keys_;
    Revision fence_ = 0;
    std::atomic<bool> lost_{false};
    Lease lease_;  // last: its thread uses all else
};

}  // namespace svc::etcd
