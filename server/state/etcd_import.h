#pragma once
// Makes a backup the state of a cluster: its records go into an empty etcd, all else into a state directory.
#include <filesystem>

#include "libsvc/store/etcd/options.h"
#include "server/state/finding.h"
#include "server/state/import.h"

namespace svc::server::state {

// As import_state(). No manager starts on this etcd until all of it is there. An import that was killed is
// begun again, or goes on, with the same `target` and node name. Throws conflict for an etcd that is not
// empty.
Findings import_to_cluster(const std::filesystem::path& file, const std::filesystem::path& target,
                           ImportOptions options, const EtcdOptions& etcd);

}  // namespace svc::server::state
