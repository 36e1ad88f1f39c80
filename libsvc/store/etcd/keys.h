#pragma once
// The keys below the root, and reading them in pages.
#include <functional>
#include <string>
#include <string_view>

#include "libsvc/store/etcd/cluster.h"
#include "libsvc/store/etcd/wire.h"

namespace svc::etcd {

// Plain value.
class Keys {
  public:
    explicit Keys(std::string root) : root_(std::move(root)) {}
    const std::string& root() const { return root_; }
    std::string records() const { return root_ + "records/"; }
    std::string record(std::string_view key) const { return records().append(key); }
    std::string manager() const { return root_ + "manager"; }
    std::string managers() const { return root_ + "managers/"; }
    // Of the manager that has that name.
    std::string name(std::string_view manager) const { return (root_ + "managers-by-name/").append(manager); }
    std::string owner() const { return root_ + "owner"; }
    std::string identity() const { return root_ + "cluster/identity"; }
    std::string schema() const { return root_ + "cluster/schema"; }
    std::string importing() const { return root_ + "importing"; }
    // The last batches of all lanes.
    std::string last() const { return root_ + "last/"; }
    // The newest of them is the newest batch of all managers.
    Json newest_batch() const {
        return range_request(below(last()), {.limit = 1, .keys_only = true, .newest_first = true});
    }

  private:
    std::string root_;
};

inline constexpr const char* transaction_path = "/v3/kv/txn";

inline Revision revision_of_first(const Page& page) {
    return page.entries.empty() ? 0 : page.entries[0].revision;
}

Page read_range(Cluster& cluster, const Json& request);  // throws as Cluster::call()

// Every entry of the range, in byte order, as of one revision, which is returned. Where etcd drops that
// revision meanwhile, the rest is as of a newer one.
Revision read_all(Cluster& cluster, KeyRange keys, bool keys_only, const std::function<void(Entry)>& take);

}  // namespace svc::etcd
