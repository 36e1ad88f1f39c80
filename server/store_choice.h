#pragma once
// The store that the options name.
#include <cstdint>
#include <functional>
#include <memory>

#include "libsvc/base/clock.h"
#include "server/cluster/candidacy.h"
#include "server/options.h"
#include "server/state_directory.h"

namespace svc::server {

// Called by threads of a store in etcd.
struct StoreListener {
    // Another manager has taken over the records in etcd: this one cannot change anything any more.
    std::function<void()> lost;
    std::function<void(Duration)> answered = {};  // a request, by etcd, after that time
};

// `sqlite` or `etcd`; with a candidacy where there are several managers: a follower whose state directory has
// the files of its cluster. Waits for etcd until it answers, or the process is to end. Throws Error when the
// store cannot be opened or belongs to another cluster, busy where this is the only manager and another one
// leads.
ClusterSeams open_store(const Options& options, const StateDirectory& state, Clock& clock,
                        StoreListener listener);

// Throws unsupported where the records of a state directory are in etcd: for tools that read svc.db.
void refuse_records_in_etcd(const Options& options);

}  // namespace svc::server
