#pragma once
// Where the packages of this machine are.
#include <memory>

#include "libsvc/blobs/dir_blob_store.h"
#include "server/options.h"
#include "server/state/paths.h"

namespace svc::server {

// `blob_dir`, which all managers of a cluster use together, or a folder of the state directory. To be called
// once the store is open, which names this manager. Throws invalid_argument for `blob_dir` without etcd.
std::unique_ptr<DirBlobStore> open_blobs(const Options& options, const StatePaths& state);
// True where each manager has a disk of its own, so that packages have to be copied from one to another.
bool copies_packages(const Options& options);

}  // namespace svc::server
