#pragma once
// What all managers of a cluster share: its id, its certificate, the secret of the instances' tokens, the
// identity for registries. Kept in etcd, made by whichever manager comes first, copied into the state
// directories of the others. docs/store-etcd.md, "Identity".
#include <string>

#include "libsvc/base/clock.h"
#include "libsvc/store/etcd/etcd_store.h"
#include "server/state/paths.h"

namespace svc::server {

// Throws conflict when the records in etcd are not those of this state directory: it belongs to another
// cluster, or its records are in svc.db. `anew` lets the first of these pass, but for a cluster whose
// managers live: busy. Changes nothing.
void check_cluster(EtcdStore& store, const StatePaths& state, bool anew, const Clock& clock);

// Once at each start, before anything reads these files: makes the identity where etcd has none (and, with
// `anew`, where it is another one than that of this state directory), writes its files into the state
// directory, and remembers the cluster there. Returns the cluster's id. Throws as check_cluster(),
// unavailable when etcd does not answer. Several managers may do so at once.
std::string join_cluster(EtcdStore& store, const StatePaths& state, bool anew, const Clock& clock);

// The cluster that the state directory belongs to; "": none.
std::string known_cluster(const StatePaths& state);

}  // namespace svc::server
