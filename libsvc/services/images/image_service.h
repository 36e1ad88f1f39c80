#pragma once
// Rules of images: import of packages, versions, the default, deletion (specification: Images).
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/id.h"
#include "libsvc/base/json.h"
#include "libsvc/model/packages/image.h"
#include "libsvc/operations/engine.h"
#include "libsvc/services/common/content.h"
#include "libsvc/services/common/precondition.h"
#include "libsvc/services/common/records.h"
#include "libsvc/services/images/default_image.h"
#include "libsvc/services/images/image_operations.h"

namespace svc {

struct ImageServiceParts {
    Store& store;
    Images& images;
    const Applications& applications;  // for used_by
    Content& content;
    Engine& engine;
    Clock& clock;
    IdSource& ids;
    std::string architecture;  // of this machine: other packages are refused at launch, not at upload
};

// A version that comes from an image server.
struct RemoteImage {
    std::string name;
    std::string remote_id;  // the version's text on the server
    bool make_default = false;
};

// Thread-safe. Validates requests and starts the operations that ImageOperations runs.
class ImageService {
  public:
    explicit ImageService(ImageServiceParts parts);
    ImageService(const ImageService&) = delete;
    ImageService& operator=(const ImageService&) = delete;

    // Cheap checks before a body is read: name valid and free (conflict), request well-formed.
    void check_create(const ImageRequest& request) const;
    std::shared_ptr<const Image> check_update(std::string_view id_or_name) const;
    // `fingerprint`: of the request's header, "" when not given; compared first. Both validate synchronously
    // what is cheap (archive readable, metadata.yaml when it is near the front), commit record and operation
    // together, and unpack in the background.
    Started create(const ImageRequest& request, UploadedPackage package, std::string_view fingerprint,
                   std::string requestor);
    Started update(std::string_view id_or_name, const ImageRequest& request, UploadedPackage package,
                   std::string_view fingerprint, std::string requestor, const Precondition& unchanged = {});
    Started patch(std::string_view id_or_name, const ImagePatch& patch, std::string requestor,
                  const Precondition& unchanged = {});
    // Refused: the default unless it is the only image, and without `force` an immutable one (403) and one
    // that applications are made from (409 "image is in use").
    Started remove(std::string_view id_or_name, bool force, std::string requestor);
    Started remove_version(std::string_view id_or_name, int version, std::string requestor);

    // Makes an immutable image, or adds a version to one. The operation that unpacks it runs in the
    // background; null when the image has a version with this remote id or fingerprint already. Throws
    // conflict "image already exists" when that name belongs to an uploaded image.
    Started import(const RemoteImage& remote, UploadedPackage package);

    std::shared_ptr<const Image> get(std::string_view id_or_name) const {
        return parts_.images.get(id_or_name);
    }
    std::vector<std::shared_ptr<const Image>> list() const { return parts_.images.list(); }
    std::shared_ptr<const Image> default_image() const { return default_image_.find(); }  // null: none
    Json describe(const Image& image) const;  // the API's record, with the ids of applications in used_by
    std::string etag(const Image& image) const;
    // Called with the image's id after one of its versions has become active; any thread. Set before the
    // engine starts.
    void on_new_version(std::function<void(const std::string& image_id)> listener) {
        operations_.on_new_version(std::move(listener));
    }
    // Called with the image's id when PATCH asks for a synchronisation of an image from a server; returns at
    // once. Without a listener that is not supported. Set before the engine starts.
    void on_sync_request(std::function<void(const std::string& image_id)> listener) {
        sync_listener_ = std::move(listener);
    }

  private:
    Image new_image(const std::string& name, ImageVersion first) const;
    ImageVersion new_version(int number, const UploadedPackage& package) const;
    Started start_create(Image image, UploadedPackage package, bool make_default, std::string requestor);
    Started start_update(const Image& image, ImageVersion version, UploadedPackage package,
                         std::string_view addressed, bool make_default, std::string requestor,
                         const Precondition& unchanged);
    // Makes the package visible and starts the operation whose record refers to it.
    Started start_import(UploadedPackage package, const OperationSpec& spec,
                         const std::function<void(Batch&)>& stage);
    void check_patch(const Image& image, const ImagePatch& patch) const;
    void check_sync(const Image& image) const;
    bool is_only_image(const Image& image) const;
    void check_may_go(const Image& image, bool force) const;
    void check_version_may_go(const Image& image, int number) const;
    bool is_going(const Image& image) const;  // an operation deletes it, or a version of it
    std::vector<std::string> used_by(const Image& image) const;

    ImageServiceParts parts_;
    DefaultImage default_image_;
    ImageOperations operations_;
    std::function<void(const std::string& image_id)> sync_listener_;  // may be empty
};

}  // namespace svc
