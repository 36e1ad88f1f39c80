#pragma once
// Rules of images: import of packages, versions, the default, deletion (specification: Images; facts 5.6).
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
                   std::string_view fingerprint, std::string requestor, const Precondition& unchanged = {});
    Started patch(std::string_view id_or_name, const ImagePatch& patch, std::string requestor,
                  const Precondition& unchanged = {});
    // Refused: the default unless it is the only image, and without `force` an immutable one (403) and one
    // that applications are made from (409 "image is in use").
    Started remove(std::string_view id_or_name, bool force, std::string requestor);
    Started remove_version(std::string_view id_or_name, int version, std::string requestor);

    // Makes an immutable image, or adds a version to one. The operation that unpacks it goes on in the
    // background; null when the image has a version with this remote id or fingerprint already. Throws
    // conflict "image already exists" when that name belongs to an uploaded image.
    Started import(const RemoteImage& remote, UploadedPackage package);

    std::shared_ptr<const Image> get(std::string_view id_or_name) const;
    std::vector<std::shared_ptr<const Image>> list() const;
    std::shared_ptr<const Image> default_image() const;  // null: none
    Json describe(const Image& image) const;     // the API's record, with the ids of applications in used_by
    std::string etag(const Image& image) const;  // facts 9.3
    // Called with the image's id after one of its versions has become active; any thread. Set before the
    // engine starts.
    void on_new_version(std::function<void(const std::string& image_id)> listener);
    // Called with the image's id when PATCH asks for a synchronisation of an image from a server; returns at
    // once. Without a listener that is not supported. Set before the engine starts.
    void on_sync_request(std::function<void(const std::string& image_id)> listener);

  private:
    class Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace svc
