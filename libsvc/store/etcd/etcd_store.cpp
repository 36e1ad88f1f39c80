#include "libsvc/store/etcd/etcd_store.h"

#include "libsvc/base/error.h"
#include "libsvc/store/etcd/committer.h"
#include "libsvc/store/etcd/follower.h"
#include "libsvc/store/etcd/ownership.h"

namespace svc {

class EtcdStore::Implementation {
  public:
    Implementation(const EtcdOptions& options, Clock& clock)
        : keys(options.root),
          cluster(options, clock),
          ownership(options.exclusive ? std::make_unique<etcd::Ownership>(cluster, options, clock) : nullptr),
          committer(cluster, keys, options.manager, ownership.get()),
          follower(cluster, options, clock) {}
    ~Implementation() { cluster.close(); }
    Implementation(const Implementation&) = delete;
    Implementation& operator=(const Implementation&) = delete;

    const etcd::Keys keys;
    etcd::Cluster cluster;
    std::unique_ptr<etcd::Ownership> ownership;
    etcd::Committer committer;
    etcd::Follower follower;
};

EtcdStore::EtcdStore(const EtcdOptions& options, Clock& clock)
    : implementation_(std::make_unique<Implementation>(options, clock)) {}
EtcdStore::~EtcdStore() = default;

std::optional<Entry> EtcdStore::get(std::string_view key) {
    implementation_->follower.check();
    etcd::Page page = etcd::read_range(implementation_->cluster,
                                       etcd::range_request({implementation_->keys.record(key), ""}));
    if (page.entries.empty()) return std::nullopt;
    page.entries[0].key = key;
    return std::move(page.entries[0]);
}

std::vector<Entry> EtcdStore::list(std::string_view prefix) {
    std::vector<Entry> entries;
    scan(prefix, [&](Entry entry) { entries.push_back(std::move(entry)); });
    return entries;
}

void EtcdStore::scan(std::string_view prefix, const std::function<void(Entry)>& take) {
    implementation_->follower.check();
    const std::size_t above = implementation_->keys.records().size();
    etcd::read_all(implementation_->cluster, etcd::below(implementation_->keys.record(prefix)), false,
                   [&](Entry entry) {
                       entry.key.erase(0, above);
                       take(std::move(entry));
                   });
}

Revision EtcdStore::commit(const Batch& batch) {
    if (implementation_->follower.is_this_thread())
        throw Error(ErrorCode::internal, "the store was changed from within a watch of it");
    implementation_->follower.check();
    const etcd::Outcome outcome = implementation_->committer.commit(batch);
    implementation_->follower.await(outcome.revision);
    if (!outcome.committed)
        throw Error(ErrorCode::conflict, "a stored record has changed meanwhile, or exists already");
    return outcome.revision;
}

std::unique_ptr<Subscription> EtcdStore::watch(std::string prefix, OnChange on_change) {
    return implementation_->follower.watches().add(std::move(prefix), std::move(on_change));
}

}  // namespace svc
