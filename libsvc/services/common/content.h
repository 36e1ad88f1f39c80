#pragma once
// Who needs which package (blob) and which layer. What nobody needs any more is removed.
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/guarded.h"
#include "libsvc/blobs/blob_store.h"
#include "libsvc/runtime/runtime.h"

namespace svc {

struct ContentReferences {
    std::set<std::string, std::less<>> blobs, layers;
    void merge(ContentReferences more);
};

// A finished upload: bytes on disk, hashed and synced, not yet visible.
struct UploadedPackage {
    std::unique_ptr<BlobWriter> blob;
    BlobInfo info;
};

// Throws invalid_argument when `expected` (of the header, "" when not given) differs.
void check_fingerprint(const BlobInfo& package, std::string_view expected);

// Thread-safe. Shared by the services whose records refer to packages and layers.
class Content {
  public:
    Content(BlobStore& blobs, LayerStore& layers) : blobs_(blobs), layers_(layers) {}

    // Adds what a service's records refer to at the moment. At construction time of that service, which
    // outlives every use.
    void add_referrer(std::function<void(ContentReferences&)> referrer);
    // Makes a package visible and runs `store`, which commits the first record that refers to it, as one step
    // against drop() and collect_garbage(). When `store` throws, the package goes again unless somebody else
    // needs it.
    void keep(UploadedPackage package, const std::function<void()>& store);
    // A user of layers that is not in the records (a running export), or of which there are too many to look
    // through (instances). Counted.
    void hold_layers(const std::vector<std::string>& layers);
    void drop_layers(const std::vector<std::string>& layers);  // and removes those that nobody needs now
    // After the record that referred to them is gone: removed unless somebody else refers to them. "" is
    // fine.
    void drop(const std::vector<std::string>& blobs, const std::vector<std::string>& layers);
    void drop(const ContentReferences& content);
    // Everything nobody refers to; at start-up, once the instances have been adopted, and now and then.
    void collect_garbage();

    BlobStore& blobs() { return blobs_; }
    LayerStore& layers() { return layers_; }

  private:
    ContentReferences references() const;
    bool is_held(const std::string& layer) const;
    void remove_unused(const ContentReferences& used, const std::vector<std::string>& blobs,
                       const std::vector<std::string>& layers);

    BlobStore& blobs_;
    LayerStore& layers_;
    // Held while a package gets its first record and while one without records is thrown away: a lock that
    // spans calls to the seams, because the two must not overlap.
    std::mutex mutex_;
    std::vector<std::function<void(ContentReferences&)>> referrers_;
    Guarded<std::map<std::string, std::uint64_t, std::less<>>> holders_;
};

}  // namespace svc
