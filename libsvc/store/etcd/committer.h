#pragma once
// Commits batches to etcd, each exactly once, however often it has to be sent: docs/store-etcd.md, "A batch".
#include <array>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "libsvc/store/etcd/keys.h"
#include "libsvc/store/etcd/leadership.h"

namespace svc::etcd {

struct Outcome {
    bool committed = false;  // else an expectation does not hold
    Revision revision = 0;   // of the batch; without one, of the newest
};

// Throws unavailable, for what may have been stored.
[[noreturn]] void throw_open(const std::string& reason);

// Thread-safe.
class Committer {
  public:
    // `leadership`: null where everybody may commit.
    Committer(Cluster& cluster, const Keys& keys, const std::string& manager, Leadership* leadership,
              Counters& counters);
    // Throws unavailable when this manager does not lead, and when it is not known whether the batch was or
    // will be committed; unsupported when it is too large; exhausted.
    Outcome commit(const Batch& batch);

  private:
    struct Lane {
        std::string key;
        Revision last = 0;  // of the key, as far as this process knows
        bool free = true;
    };
    class LaneUse;
    Outcome check(const Batch& batch);
    Outcome send(const Batch& batch, Lane& lane);
    Transaction begin(const Batch& batch) const;
    Reply ask(const Json& request);
    TransactionReply checked(const Batch& batch, const Reply& reply, std::size_t reads);
    void refuse_other_owner(const TransactionReply& refused);
    bool settle(Lane& lane, const std::string& name);
    Outcome counted(Outcome outcome);
    Lane& take_lane();
    void give_back(Lane& lane);

    static constexpr std::size_t lane_count = 16;
    Cluster& cluster_;
    const Keys keys_;
    Leadership* const leadership_;
    Counters& counters_;
    std::mutex mutex_;
    std::condition_variable lane_free_;
    std::array<Lane, lane_count> lanes_;
};

}  // namespace svc::etcd
