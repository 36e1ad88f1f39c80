#pragma once
// Who the managers are, and which one leads: the keys `manager`, `managers/`, `owner` and `cluster/schema` in
// memory.
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "libsvc/store/etcd/counts.h"
#include "libsvc/store/etcd/keys.h"
#include "libsvc/store/membership.h"
#include "libsvc/store/watch_list.h"

namespace svc::etcd {

// What the keys `manager` and `owner` say.
struct Lead {
    std::string holder, host;  // of the lease; "": nobody
    Revision holder_revision = 0;
    std::string owner;  // who held it last
    std::uint64_t term = 0;
    Revision owner_revision = 0;
    std::uint64_t heard = 0;  // the highest term that the machine of a living manager has heard of
};

// How new the records may be, and who has to know it: docs/managers.md, "Rolling upgrade".
struct RecordsSchema {
    int raised = 0;         // a manager that knows less does not lead
    Revision revision = 0;  // of its key; 0: it was never raised
    // One that lives, may lead, and knows less than this manager: which does not lead meanwhile.
    std::optional<Manager> older;
    Revision seen = 0;  // every manager that was there then was looked at
};

// Thread-safe. Listeners are called by the thread of the watch or by that of the session.
class Members final : public Membership {
  public:
    Members(Cluster& cluster, const EtcdOptions& options, Counters& counters);

    Manager self() const override;
    std::vector<Manager> managers() const override;
    std::optional<Leader> leader() const override;
    std::shared_ptr<void> on_change(std::function<void()> listener) override;

    Lead lead() const;
    RecordsSchema schema() const;
    void set_addresses(std::string address, std::vector<std::string> api);
    // The keys as they are now. Whatever the watch tells later of an earlier state does not count.
    void read();
    void take(const std::vector<WatchEvent>& events);  // all of one revision, of any keys

  private:
    struct View {
        std::vector<Manager> managers;  // by name, without this one
        Lead lead;
        RecordsSchema schema;
        std::optional<Leader> leader;
    };
    using Entries = std::map<std::string, Entry, std::less<>>;
    bool is_mine(std::string_view key) const;
    View viewed(const Entries& entries) const;
    void show(const Entries& entries);

    Cluster& cluster_;
    const Keys keys_;
    Counters& counters_;
    WatchList listeners_;
    std::mutex changing_;  // for the next two; taken before mutex_, and held while listeners are called
    Entries entries_;
    Revision seen_ = 0;
    mutable std::mutex mutex_;
    Manager self_;
    View view_;
};

}  // namespace svc::etcd
