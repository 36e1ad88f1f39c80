#include "server/cluster_identity.h"

#include <unistd.h>

#include <array>

#include "libsvc/base/error.h"
#include "libsvc/base/presence.h"
#include "libsvc/net/tls/tls.h"
#include "libsvc/services/trust/agent_tokens.h"
#include "server/cluster/shared_identity.h"

namespace svc::server {

namespace {

std::string cluster_host() {
    std::array<char, 256> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

// Clients and managers know the certificate by its fingerprint: its names do not matter.
void make_files(const StatePaths& state, const Clock& clock) {
    const std::string host = cluster_host();
    ensure_key_pair(state.server_keys(), host, {host, "localhost"}, {"127.0.0.1", "::1"}, clock);
    ensure_key_pair(state.registry_keys(), host, {}, {}, clock);
    const AgentTokens made(state.token_secret(), clock);
}

IdentityFiles identity_files(const StatePaths& state, const Clock& clock) {
    return {{{"server.crt", state.server_keys().certificate},
             {"server.key", state.server_keys().key},
             {"tokens.key", state.token_secret()},
             {"registry.crt", state.registry_keys().certificate},
             {"registry.key", state.registry_keys().key}},
            state.cluster_id(),
            [&state, &clock] { make_files(state, clock); },
            "svcd",
            "would remove the containers that these records do not name"};
}

void refuse_sqlite(const StatePaths& state) {
    if (is_there(state.database()))
        throw Error(ErrorCode::conflict,
                    "the records of this state directory are in svc.db, which the store etcd does not read: "
                    "keep a backup with svcd export, and use another state directory for the store etcd");
}

}  // namespace

std::string known_cluster(const StatePaths& state) {
    return known_cluster(state.cluster_id());
}

void check_cluster(EtcdStore& store, const StatePaths& state, bool anew, const Clock& clock) {
    refuse_sqlite(state);
    check_identity(store, identity_files(state, clock), anew);
}

std::string join_cluster(EtcdStore& store, const StatePaths& state, bool anew, const Clock& clock) {
    refuse_sqlite(state);
    return join_identity(store, identity_files(state, clock), anew);
}

}  // namespace svc::server
