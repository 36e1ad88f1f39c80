#pragma once
// Which packages (blobs) and layers are needed. Those that no record refers to and nobody holds are removed.
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

    // The referrer adds the packages and layers that the records of a service refer to at that moment. To be
    // called in the constructor of the service; the records must outlive this object's use.
    void add_referrer(std::function<void(ContentReferences&)> referrer);
    // While `incomplete` returns true, records may refer to content and cannot tell: nothing is removed. To
    // be set before the first use.
    void keep_all_while(std::function<bool()> incomplete) { incomplete_ = std::move(incomplete); }
    // Makes a package visible and runs `store`, which commits the first record that refers to it, as one step
    // against drop() and collect_garbage(). When `store` throws, the package is removed unless something else
    // needs it.
    void keep(UploadedPackage package, const std::function<void()>& store);
    // Holds content for a user that is not in the records (a running export), or that are too many to search
    // (instances). Counted: each hold needs its drop, which removes what is not needed any more.
    void hold_layers(const std::vector<std::string>& layers);
    void drop_layers(const std::vector<std::string>& layers);
    void hold_blobs(const std::vector<std::string>& blobs);
    void drop_blobs(const std::vector<std::string>& blobs);
    // To be called when the record that referred to them is gone: removes them unless another record refers
    // to them. "" is ignored.
    void drop(const std::vector<std::string>& blobs, const std::vector<std::string>& layers);
    void drop(const ContentReferences& content);
    // Removes every package and layer that is not needed. At start-up, once the instances have been adopted,
    // and periodically.
    void collect_garbage();
    // Makes up for copies of needed packages that were lost. Periodically.
    void keep_copies();

    BlobStore& blobs() { return blobs_; }
    LayerStore& layers() { return layers_; }

  private:
    using Counts = std::map<std::string, std::uint64_t, std::less<>>;
    struct Holders {
        Counts blobs, layers;
    };
    ContentReferences references() const;
    bool is_held(Counts Holders::*kind, const std::string& name) const;
    void hold(Counts Holders::*kind, const std::vector<std::string>& names);
    std::vector<std::string> let_go(Counts Holders::*kind, const std::vector<std::string>& names);
    void remove_unused(const ContentReferences& used, const std::vector<std::string>& blobs,
                       const std::vector<std::string>& layers);

    BlobStore& blobs_;
    LayerStore& layers_;
    // Held while a package gets its first record and while packages without records are removed. It spans
    // calls to the stores, because the two must not overlap.
    std::mutex mutex_;
    std::vector<std::function<void(ContentReferences&)>> referrers_;
    std::function<bool()> incomplete_ = [] { return false; };
    Guarded<Holders> holders_;
};

}  // namespace svc
