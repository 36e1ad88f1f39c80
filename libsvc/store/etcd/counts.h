#pragma once
// What a store in etcd has done, for metrics.
#include <atomic>
#include <cstdint>

#include "libsvc/base/clock.h"
#include "libsvc/store/store.h"

namespace svc {

// Plain value. Counts begin when the store is opened.
struct EtcdCounts {
    std::uint64_t transactions = 0;     // sent for commits; each is sent again until a member answers
    std::uint64_t commits = 0;          // batches that were committed
    std::uint64_t conflicts = 0;        // batches with an expectation that did not hold
    std::uint64_t renewals_failed = 0;  // attempts to keep the lease that etcd did not answer
    std::uint64_t leader_changes = 0;
    std::uint64_t term = 0;             // the newest that is known
    std::uint64_t requests_failed = 0;  // that a member did not answer; they go on at the next one
    Duration lease_age{};               // since the renewal that was answered last; 0: there is no lease
    Revision told = 0;                  // Progress::revision()
    Revision newest = 0;                // of etcd, as its answers tell
};

namespace etcd {

// Thread-safe.
struct Counters {
    std::atomic<std::uint64_t> transactions{0}, commits{0}, conflicts{0}, renewals_failed{0},
        leader_changes{0};
};

}  // namespace etcd

}  // namespace svc
