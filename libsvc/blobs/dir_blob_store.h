#pragma once
// Blobs as files of one directory: `<root>/<first two digits>/<digest>`, new ones under `<root>/incoming`.
// Several processes may use one directory, also of a network file system.
#include "libsvc/blobs/blob_store.h"

namespace svc {

struct DirBlobStoreOptions {
    std::filesystem::path root;
    // Where new blobs lie until they are committed. Of this process alone: several may share the root, each
    // with a folder of its own.
    std::string incoming = "incoming";
    std::uint64_t reserve_bytes = std::uint64_t{64} << 20;   // kept free on the file system
    std::uint64_t max_blob_bytes = std::uint64_t{16} << 30;  // a larger blob is invalid_argument
};

// Thread-safe. Construction removes what a crash left under its `incoming`.
class DirBlobStore final : public BlobStore {
  public:
    explicit DirBlobStore(DirBlobStoreOptions options);
    std::unique_ptr<BlobWriter> create(std::uint64_t expected_size) override;
    ScratchFile scratch() override;
    std::filesystem::path path(std::string_view digest) override;
    bool contains(std::string_view digest) override;
    void remove(std::string_view digest) override;
    std::vector<BlobInfo> list() override;

  private:
    DirBlobStoreOptions options_;
};

}  // namespace svc
