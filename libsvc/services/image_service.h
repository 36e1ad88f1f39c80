#pragma once
// Rules of images: import of packages, versions, the default, deletion (specification: Images; facts 5.6).
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/id.h"
#include "libsvc/blobs/blob_store.h"
#include "libsvc/model/image.h"
#include "libsvc/operations/engine.h"
#include "libsvc/runtime/runtime.h"
#include "libsvc/services/content.h"
#include "libsvc/services/records.h"

namespace svc {

struct ImageServiceParts {
    Store& store;
    Images& images;
    BlobStore& blobs;
    LayerStore& layers;
    Engine& engine;
    Clock& clock;
    IdSource& ids;
    std::string architecture;  // of this machine: other packages are refused at launch, not at upload
};

// Thread-safe. Registers its operation kinds ("image.add", "image.update", "image.delete",
// "image.delete_version", "image.set_default") with the engine at construction.
class ImageService {
  public:
    explicit ImageService(ImageServiceParts parts);
    ~ImageService();

    // Cheap checks before a body is read: name valid and free (conflict), request well-formed.
    void check_create(const ImageRequest& request) const;
    void check_update(std::string_view id_or_name) const;
    // `fingerprint`: of the header, "" when not given: compared first. `addressed` is how the request named
    // the image, for the operation's resources. All validate synchronously what is cheap (archive readable,
    // metadata.yaml when it is near the front), store record and operation in one commit, and unpack in the
    // background.
    Started create(const ImageRequest& request, UploadedPackage package, std::string_view fingerprint,
                   std::string requestor);
    Started update(std::string_view id_or_name, const ImageRequest& request, UploadedPackage package,
                   std::string_view fingerprint, std::string requestor);
    Started patch(std::string_view id_or_name, const ImagePatch& patch, std::string requestor);
    Started remove(std::string_view id_or_name, bool force, std::string requestor);
    Started remove_version(std::string_view id_or_name, int version, std::string requestor);

    std::shared_ptr<const Image> get(std::string_view id_or_name) const;
    std::vector<std::shared_ptr<const Image>> list() const;
    std::shared_ptr<const Image> default_image() const;  // null: none
    std::string etag(const Image& image) const;          // facts 9.3
    // Blobs and layers nothing refers to; at start-up, once the instances have been adopted, and now and
    // then.
    void collect_garbage();
    // An instance uses a layer from hold to drop: it outlives its image as long as it is held. Counted.
    void hold_layer(const std::string& layer);
    void drop_layer(const std::string& layer);

  private:
    class Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace svc
