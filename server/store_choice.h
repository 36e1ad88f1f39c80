#pragma once
// The store that the options name.
#include <functional>
#include <memory>

#include "libsvc/base/clock.h"
#include "libsvc/store/store.h"
#include "server/options.h"
#include "server/state_directory.h"

namespace svc::server {

// `sqlite` or `etcd`. `lost` is called by a thread of the store when another manager has taken over the
// records in etcd: this one cannot change anything any more. Throws Error when the store cannot be opened.
std::unique_ptr<Store> open_store(const Options& options, const StateDirectory& state, Clock& clock,
                                  std::function<void()> lost);

// Throws unsupported where the records of a state directory are in etcd: for tools that read svc.db.
void refuse_records_in_etcd(const Options& options);

}  // namespace svc::server
