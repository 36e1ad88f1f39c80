#pragma once
// What a cluster's store offers a manager beside records: who the managers are, how far this one has read,
// and the lead.
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "libsvc/store/etcd/counts.h"
#include "libsvc/store/membership.h"
#include "libsvc/store/progress.h"
#include "libsvc/store/store.h"

namespace svc::server {

// Thread-safe.
class Candidacy {
  public:
    virtual ~Candidacy() = default;
    virtual Membership& membership() = 0;
    virtual Progress& progress() = 0;
    // From now on others reach this manager at `address`, its clients at `api` (Manager), and it wants to
    // lead. `lead` is called once it does, with its term, once, by a thread of the implementation; it may
    // take minutes. It must not throw.
    virtual void campaign(const std::string& address, const std::vector<std::string>& api,
                          std::function<void(std::uint64_t term)> lead) = 0;
    // False also while another manager may lead, as far as this one can tell. Reads memory only.
    virtual bool leads() const = 0;
    // Waits for a `lead` that runs; none begins any more. The end of the store gives the lead back.
    virtual void resign() = 0;
};

// The records, and what connects a manager with others. Without a candidacy it is the only one.
struct ClusterSeams {
    std::unique_ptr<Store> store;
    std::unique_ptr<Candidacy> candidacy;     // may refer to the store
    std::function<EtcdCounts()> counts = {};  // of a store in etcd; valid as long as the store
};

}  // namespace svc::server
