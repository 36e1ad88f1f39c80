#pragma once
// The store that the options name.
#include <functional>

#include "libsvc/base/clock.h"
#include "server/cluster/candidacy.h"
#include "server/gateway/options.h"
#include "server/gateway/state_directory.h"

namespace svc::gateway {

// `sqlite`, or `etcd` with a candidacy: a follower whose state directory has the files that all gateways
// share. `lost` is called by a thread of the store when another gateway leads: this one cannot change
// anything any more. Throws Error when the store cannot be opened; conflict when it is not that of this state
// directory.
server::ClusterSeams open_store(const Options& options, const StateDirectory& state, Clock& clock,
                                std::function<void()> lost);

}  // namespace svc::gateway
