#include "server/blob_choice.h"

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/strings.h"

namespace svc::server {

namespace {

// Two services with records of their own would remove each other's packages.
void check_shared(const Options& options) {
    if (options.store != "etcd")
        throw Error(ErrorCode::invalid_argument, "blob_dir is for managers on one etcd: it needs store etcd");
}

}  // namespace

std::unique_ptr<DirBlobStore> open_blobs(const Options& options, const StatePaths& state) {
    DirBlobStoreOptions blobs;
    blobs.root = state.blobs();
    blobs.reserve_bytes = options.disk_reserve;
    blobs.max_blob_bytes = options.max_upload;
    if (options.blob_dir.empty()) return std::make_unique<DirBlobStore>(blobs);
    check_shared(options);
    blobs.root = options.blob_dir;
    blobs.incoming = "incoming-" + std::string(trim(read_file(state.manager_id())));
    return with_context("blob_dir", [&] { return std::make_unique<DirBlobStore>(blobs); });
}

bool copies_packages(const Options& options) {
    return options.blob_dir.empty();
}

}  // namespace svc::server
