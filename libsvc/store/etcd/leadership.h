#pragma once
// Lets one manager at a time change the records: a key with a lease says which one leads, and a key without
// one fences off whoever has lost it. docs/store-etcd.md, "Who leads".
#include <atomic>
#include <cstdint>
#include <mutex>

#include "libsvc/store/etcd/keys.h"
#include "libsvc/store/etcd/lease.h"
#include "libsvc/store/etcd/members.h"

namespace svc::etcd {

// Thread-safe, but for take() and restore(), which are for the thread that keeps the lease.
class Leadership {
  public:
    Leadership(Cluster& cluster, const EtcdOptions& options, const Members& members, const Lease& lease);

    // Takes the lead, also from an earlier process of the same manager, and raises the schema of the records
    // to the newest it knows. False: somebody else has it, a manager is of another version, or the members
    // are not what they were.
    bool take();
    // Puts the key again, with the lease as it is now. Whoever came in between would have become the owner.
    void restore();
    // From now on, this manager changes nothing where its lease may be over: others wait for it.
    void heed_time() { heeds_time_ = true; }

    // The revision of the owner's key while this manager leads. Throws unavailable when it does not.
    Revision fence() const;
    bool following() const { return state_ == State::following; }
    bool leading() const { return state_ == State::leading; }
    bool may_begin() const { return leading() && in_time(); }
    void look();  // whether the members know of another owner
    void lose();  // another manager is the owner: tells it once

  private:
    enum class State { following, leading, lost };
    bool in_time() const { return !heeds_time_ || lease_.surely_lives(); }
    void begin(Revision fence, std::uint64_t term);

    Cluster& cluster_;
    const EtcdOptions options_;
    const Keys keys_;
    const Members& members_;
    const Lease& lease_;
    std::atomic<bool> heeds_time_{false};
    std::atomic<Revision> fence_{0};
    std::atomic<State> state_{State::following};
    std::mutex telling_;  // on_lost comes after on_leading
};

}  // namespace svc::etcd
