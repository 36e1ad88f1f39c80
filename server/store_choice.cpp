#include "server/store_choice.h"

#include "libsvc/base/error.h"
#include "libsvc/base/presence.h"
#include "libsvc/cluster/term_guard.h"
#include "libsvc/model/values/api.h"
#include "libsvc/services/nodes/local_node.h"
#include "libsvc/store/sqlite/sqlite_store.h"
#include "server/cluster/etcd_candidacy.h"
#include "server/cluster_identity.h"
#include "server/known_schema.h"
#include "server/process/patience.h"
#include "server/state/etcd_records.h"

namespace svc::server {

namespace {

std::unique_ptr<EtcdStore> open_follower(const Options& options, const StateDirectory& state, Clock& clock,
                                         std::function<void(std::uint64_t term)> leading,
                                         StoreListener listener) {
    EtcdOptions etcd = etcd_connection(options.etcd);
    server::state::refuse_unfinished_import(etcd);
    etcd.manager = member_id(state.manager_id());
    etcd.host = options.node_name.empty() ? host_node_name() : options.node_name;
    etcd.name_setting = "manager_name";
    etcd.version = service_version;
    etcd.schema = known_schema();
    etcd.known_term = [file = state.term()] { return stored_term(file); };
    etcd.on_leading = std::move(leading);
    etcd.on_lost = std::move(listener.lost);
    etcd.on_answer = std::move(listener.answered);
    return std::make_unique<EtcdStore>(etcd, clock);
}

void refuse_cluster(const StatePaths& state) {
    const std::string cluster = known_cluster(state);
    if (!cluster.empty())
        throw Error(ErrorCode::conflict, "the records of this state directory are in etcd, of cluster " +
                                             cluster + ": start it with the store etcd");
}

// A follower whose state directory has the files of its cluster.
ClusterSeams open_among_others(const Options& options, const StateDirectory& state, Clock& clock,
                               StoreListener listener) {
    const auto news = std::make_shared<LeadNews>();
    auto store = open_follower(
        options, state, clock, [news](std::uint64_t term) { news->leading(term); }, std::move(listener));
    join_cluster(*store, state, options.etcd.new_cluster, clock);
    ClusterSeams seams;
    seams.candidacy = std::make_unique<EtcdCandidacy>(*store, news);
    seams.counts = [counted = store.get()] { return counted->counts(); };
    seams.store = std::move(store);
    return seams;
}

ClusterSeams open_alone(const Options& options, const StateDirectory& state, Clock& clock,
                        StoreListener listener) {
    auto store = open_follower(options, state, clock, nullptr, std::move(listener));
    check_cluster(*store, state, options.etcd.new_cluster, clock);
    store->lead();
    join_cluster(*store, state, options.etcd.new_cluster, clock);
    auto counts = [counted = store.get()] { return counted->counts(); };
    return {std::move(store), nullptr, std::move(counts)};
}

}  // namespace

ClusterSeams open_store(const Options& options, const StateDirectory& state, Clock& clock,
                        StoreListener listener) {
    if (options.store == "sqlite") {
        if (!options.manager_listen.empty())
            throw Error(ErrorCode::invalid_argument, "manager_listen: several managers need store: etcd");
        refuse_cluster(state);
        return {std::make_unique<SqliteStore>(state.database()), nullptr};
    }
    // Each try is one of a process that starts: what an earlier one has begun goes on.
    return process::when_it_answers("etcd", clock, [&] {
        return options.manager_listen.empty() ? open_alone(options, state, clock, listener)
                                              : open_among_others(options, state, clock, listener);
    });
}

void refuse_records_in_etcd(const Options& options) {
    const StatePaths state(options.state_dir);
    const bool used_etcd = is_there(state.manager_id()) && !is_there(state.database());
    if (options.store == "etcd" || used_etcd || is_there(state.cluster_id()))
        throw Error(
            ErrorCode::unsupported,
            "the records of this state directory are in etcd; use etcdctl snapshot for backups of them");
}

}  // namespace svc::server
