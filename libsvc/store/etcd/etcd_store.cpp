#include "libsvc/store/etcd/etcd_store.h"

#include "libsvc/base/error.h"
#include "libsvc/store/etcd/committer.h"
#include "libsvc/store/etcd/follower.h"
#include "libsvc/store/etcd/records_schema.h"
#include "libsvc/store/etcd/session.h"
#include "libsvc/store/store_unavailable.h"

namespace svc {

namespace {

template <class Call>
auto telling_unavailable(Call&& call) {
    try {
        return call();
    } catch (const Error& e) {
        if (e.code() == ErrorCode::unavailable) throw StoreUnavailable(e.what());
        throw;
    }
}

}  // namespace

class EtcdStore::Implementation {
  public:
    Implementation(const EtcdOptions& given, Clock& clock)
        : options(given),
          keys(options.root),
          cluster(options, clock),
          members(cluster, options, counters),
          lease(cluster, options.lease, clock),
          leadership(cluster, options, members, lease),
          committer(cluster, keys, options.manager, options.exclusive ? &leadership : nullptr, counters),
          follower(cluster, options, clock, members),
          session(cluster, options, clock, members, lease, leadership, counters) {
        etcd::refuse_newer_records(members.schema(), options.schema);
    }
    ~Implementation() { cluster.close(); }
    Implementation(const Implementation&) = delete;
    Implementation& operator=(const Implementation&) = delete;

    const EtcdOptions options;
    const etcd::Keys keys;
    etcd::Counters counters;
    etcd::Cluster cluster;
    etcd::Members members;
    etcd::Lease lease;
    etcd::Leadership leadership;
    etcd::Committer committer;
    etcd::Follower follower;
    etcd::Session session;
};

EtcdStore::EtcdStore(const EtcdOptions& options, Clock& clock)
    : implementation_(std::make_unique<Implementation>(options, clock)) {}
EtcdStore::~EtcdStore() = default;

void EtcdStore::lead() {
    implementation_->session.lead();
}

void EtcdStore::join(std::string address, std::vector<std::string> api) {
    implementation_->session.join(std::move(address), std::move(api));
}

void EtcdStore::campaign() {
    implementation_->session.campaign();
}

bool EtcdStore::leads() const {
    return implementation_->leadership.may_begin();
}

Membership& EtcdStore::membership() {
    return implementation_->members;
}

EtcdCounts EtcdStore::counts() const {
    const etcd::Counters& counters = implementation_->counters;
    return {counters.transactions,
            counters.commits,
            counters.conflicts,
            counters.renewals_failed,
            counters.leader_changes,
            implementation_->members.lead().term,
            implementation_->cluster.failures(),
            implementation_->lease.age(),
            implementation_->follower.told(),
            implementation_->cluster.newest()};
}

std::optional<Entry> EtcdStore::identity() {
    etcd::Page page = etcd::read_range(implementation_->cluster,
                                       etcd::range_request({implementation_->keys.identity(), ""}));
    if (page.entries.empty()) return std::nullopt;
    return std::move(page.entries[0]);
}

bool EtcdStore::set_identity(std::string_view value, Revision expected) {
    etcd::Transaction transaction;
    transaction.expect(implementation_->keys.identity(), expected);
    transaction.put(implementation_->keys.identity(), value);
    const Json reply = implementation_->cluster.call(etcd::transaction_path, transaction.request());
    return etcd::read_transaction(reply).succeeded;
}

std::optional<Entry> EtcdStore::get(std::string_view key) {
    etcd::Page page = telling_unavailable([&] {
        implementation_->follower.check();
        return etcd::read_range(implementation_->cluster,
                                etcd::range_request({implementation_->keys.record(key), ""}));
    });
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
    const std::size_t above = implementation_->keys.records().size();
    telling_unavailable([&] {
        implementation_->follower.check();
        etcd::read_all(implementation_->cluster, etcd::below(implementation_->keys.record(prefix)), false,
                       [&](Entry entry) {
                           entry.key.erase(0, above);
                           take(std::move(entry));
                       });
    });
}

Revision EtcdStore::commit(const Batch& batch) {
    if (implementation_->follower.is_this_thread())
        throw Error(ErrorCode::internal, "the store was changed from within a watch of it");
    const etcd::Outcome outcome = telling_unavailable([&] {
        implementation_->follower.check();
        const etcd::Outcome sent = implementation_->committer.commit(batch);
        try {
            implementation_->follower.await(sent.revision, implementation_->options.patience);
        } catch (const Error& e) {
            if (sent.committed) etcd::throw_open(e.what());
            throw;
        }
        return sent;
    });
    if (!outcome.committed)
        throw Error(ErrorCode::conflict, "a stored record has changed meanwhile, or exists already");
    return outcome.revision;
}

std::unique_ptr<Subscription> EtcdStore::watch(std::string prefix, OnChange on_change) {
    return implementation_->follower.watches().add(std::move(prefix), std::move(on_change));
}

Revision EtcdStore::revision() const {
    return implementation_->follower.told();
}

void EtcdStore::await(Revision revision, Duration patience) {
    telling_unavailable([&] { implementation_->follower.await(revision, patience); });
}

void EtcdStore::catch_up() {
    const etcd::Page newest = telling_unavailable(
        [&] { return etcd::read_range(implementation_->cluster, implementation_->keys.newest_batch()); });
    await(etcd::revision_of_first(newest), implementation_->options.patience);
}

}  // namespace svc
