#pragma once
// Keeps two managers from working on the same records: a key with a lease says who does, and a key without
// one fences off whoever has lost it.
#include <atomic>
#include <cstdint>
#include <thread>

#include "libsvc/store/etcd/keys.h"

namespace svc::etcd {

// Thread-safe.
class Ownership {
  public:
    // Takes it, also from an earlier process of the same manager. Throws busy while another manager has it.
    Ownership(Cluster& cluster, const EtcdOptions& options, Clock& clock);
    ~Ownership();  // gives it back, if etcd can be reached
    Ownership(const Ownership&) = delete;
    Ownership& operator=(const Ownership&) = delete;

    // The revision of the owner's key for as long as this manager may change anything.
    Revision fence() const { return fence_; }
    void lose();  // another manager is the owner: tells it once

  private:
    void take();
    bool take_from(const Page& holder);
    std::uint64_t grant();
    void run(const std::stop_token& stop);
    void renew();
    void take_again();
    std::string described() const;

    Cluster& cluster_;
    const EtcdOptions options_;
    const Keys keys_;
    Clock& clock_;
    std::uint64_t lease_ = 0;  // the constructor's, then the thread's
    Revision fence_ = 0;
    std::atomic<bool> lost_{false};
    std::jthread thread_;
};

}  // namespace svc::etcd
