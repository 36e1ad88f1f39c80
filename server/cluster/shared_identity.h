#pragma once
// The files that all members of a cluster share, and the id of the cluster: kept in etcd, made by whichever
// member comes first, copied into the state directories of the others.
#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "libsvc/store/etcd/etcd_store.h"

namespace svc::server {

// One state directory's part of it.
struct IdentityFiles {
    std::map<std::string, std::filesystem::path> files;  // by their names in etcd
    std::filesystem::path cluster_id;                    // remembers the cluster here
    std::function<void()> make;                          // makes those files that are absent
    // For people: the program, and what it would do with the records of another cluster.
    std::string program, danger;
};

// Throws conflict when this state directory belongs to another cluster than the records in etcd. `anew` lets
// this pass, but for a cluster whose members live: busy. Changes nothing.
void check_identity(EtcdStore& store, const IdentityFiles& here, bool anew);

// Once at each start, before anything reads these files: makes the identity where etcd has none (and, with
// `anew`, where it is another one than that of this state directory), writes its files into the state
// directory, and remembers the cluster there. Returns the cluster's id. Throws as check_identity(),
// unavailable when etcd does not answer. Several members may do so at once.
std::string join_identity(EtcdStore& store, const IdentityFiles& here, bool anew);

// The cluster that a state directory belongs to; "": none. Throws internal when the file is damaged.
std::string known_cluster(const std::filesystem::path& cluster_id);

}  // namespace svc::server
