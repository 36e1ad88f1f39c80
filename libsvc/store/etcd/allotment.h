#pragma once
// What managers share out among themselves before one of them leads: a key for each owner, written once and
// kept until it is removed.
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "libsvc/store/etcd/cluster.h"
#include "libsvc/store/etcd/wire.h"

namespace svc::etcd {

// Thread-safe. All calls throw unavailable when etcd cannot be reached.
class Allotment {
  public:
    using Shares = std::map<std::string, std::string>;  // owner -> value
    using Choose = std::function<std::string(const Shares& all)>;

    // The keys are `prefix` and the owner, such as "/svc/cluster/subnets/" and "m1". The key `prefix` itself
    // is written with each change, so that no two are decided on the same shares.
    Allotment(Cluster& cluster, std::string prefix) : cluster_(cluster), prefix_(std::move(prefix)) {}

    // Makes the owner's share what `choose` says, and returns it. `choose` sees all shares as they are, the
    // owner's former one among them, and is asked again when another change came first; what it throws ends
    // the call.
    std::string take(const std::string& owner, const Choose& choose);
    void release(const std::string& owner);  // does nothing when the owner has no share
    Shares list() const;

  private:
    struct Seen {
        Shares shares;
        Revision turn = 0;  // of the last change
    };
    Seen see() const;
    // False: another change came first.
    bool commit(Transaction& transaction, Revision turn);

    Cluster& cluster_;
    const std::string prefix_;
};

}  // namespace svc::etcd
