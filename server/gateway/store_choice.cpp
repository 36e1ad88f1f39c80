#include "server/gateway/store_choice.h"

#include "libsvc/base/error.h"
#include "libsvc/base/presence.h"
#include "libsvc/model/values/api.h"
#include "libsvc/store/sqlite/sqlite_store.h"
#include "server/cluster/etcd_candidacy.h"
#include "server/cluster/shared_identity.h"
#include "server/gateway/addresses.h"
#include "server/gateway/key_files.h"
#include "server/process/patience.h"

namespace svc::gateway {

namespace {

constexpr const char* root = "/svc-gateway/";  // of all keys in etcd
constexpr int records_schema = 1;              // the newest one of sessions and accounts

void refuse_sqlite(const StateDirectory& state) {
    if (is_there(state.database()))
        throw Error(ErrorCode::conflict,
                    "the accounts and sessions of this state directory are in gateway.db, which the store "
                    "etcd does not read: use another state directory");
}

void refuse_cluster(const StateDirectory& state) {
    const std::string cluster = server::known_cluster(state.cluster_id());
    if (!cluster.empty())
        throw Error(ErrorCode::conflict,
                    "the accounts and sessions of this state directory are in etcd, of "
                    "cluster " +
                        cluster + ": start it with the store etcd");
}

server::IdentityFiles shared_files(const StateDirectory& state, const Clock& clock) {
    return {{{"tokens.key", state.token_secret()},
             {"server.crt", state.server_keys().certificate},
             {"server.key", state.server_keys().key},
             {"instances.crt", state.instance_keys().certificate},
             {"instances.key", state.instance_keys().key}},
            state.cluster_id(),
            [&state, &clock] { make_key_files(state, clock); },
            "svc-gateway",
            "would not be known to the instances of its sessions"};
}

server::ClusterSeams open_etcd(const Options& options, const StateDirectory& state, Clock& clock,
                               std::function<void()> lost) {
    refuse_sqlite(state);
    const auto news = std::make_shared<server::LeadNews>();
    EtcdOptions etcd = server::etcd_connection(options.etcd);
    etcd.root = root;
    etcd.manager = server::member_id(state.gateway_id());
    etcd.host = options.gateway_name.empty() ? host_name() : options.gateway_name;
    etcd.version = service_version;
    etcd.schema = records_schema;
    etcd.on_leading = [news](std::uint64_t term) { news->leading(term); };
    etcd.on_lost = std::move(lost);
    auto store = std::make_unique<EtcdStore>(etcd, clock);
    server::join_identity(*store, shared_files(state, clock), options.etcd.new_cluster);
    server::ClusterSeams seams;
    seams.candidacy = std::make_unique<server::EtcdCandidacy>(*store, news);
    seams.store = std::move(store);
    return seams;
}

}  // namespace

server::ClusterSeams open_store(const Options& options, const StateDirectory& state, Clock& clock,
                                std::function<void()> lost) {
    if (options.store == "etcd")
        return process::when_it_answers("etcd", clock,
                                        [&] { return open_etcd(options, state, clock, lost); });
    refuse_cluster(state);
    return {std::make_unique<SqliteStore>(state.database()), nullptr};
}

}  // namespace svc::gateway
