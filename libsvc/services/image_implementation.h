#pragma once
// The inside of ImageService: image_service.cpp takes requests, image_work.cpp does what they started.
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "libsvc/base/guarded.h"
#include "libsvc/services/image_service.h"

namespace svc {

class ImageService::Implementation {
  public:
    explicit Implementation(ImageServiceParts parts);

    void check_create(const ImageRequest& request) const;
    std::shared_ptr<const Image> check_update(std::string_view id_or_name) const;
    Started create(const ImageRequest& request, UploadedPackage package, std::string_view fingerprint,
                   std::string requestor);
    Started update(std::string_view id_or_name, const ImageRequest& request, UploadedPackage package,
                   std::string_view fingerprint, std::string requestor);
    Started patch(std::string_view id_or_name, const ImagePatch& patch, std::string requestor);
    Started remove(std::string_view id_or_name, bool force, std::string requestor);
    Started remove_version(std::string_view id_or_name, int version, std::string requestor);
    std::shared_ptr<const Image> default_image() const;
    void collect_garbage();
    void hold_layer(const std::string& layer);
    void drop_layer(const std::string& layer);
    const Images& images() const { return parts_.images; }

  private:
    // One version of one image, as operations name it.
    struct Target {
        static constexpr int every_version = -1;
        std::string image;
        int version = 0;
        bool make_default = false;
        Json to_json() const;
        static Target of(const Operation& operation);
    };

    void register_kinds();
    OperationSpec spec_for(std::string kind, std::string description, std::string_view addressed,
                           const Target& target, std::string requestor) const;
    ImageVersion new_version(int number, const BlobInfo& package) const;
    // Makes the blob visible and starts the operation whose record refers to it.
    Started start_import(UploadedPackage package, OperationSpec spec,
                         const std::function<void(Batch&)>& stage);

    OperationResult unpack(OperationContext& context);
    ImageMetadata unpack_layer(const ImageVersion& version, OperationContext& context);
    void activate(const Target& target, const ImageMetadata& metadata, std::uint64_t root_size);
    void change_with_default(const std::string& id, bool make_default,
                             const std::function<void(Image&)>& change);
    OperationResult undo_create(const Operation& operation);
    OperationResult undo_update(const Operation& operation);
    OperationResult remove_image(const Operation& operation);
    OperationResult erase_version(const Operation& operation);

    bool is_referenced(const std::string& fingerprint, const Target* except) const;
    void drop_package(const std::string& fingerprint, const Target* except = nullptr);
    void remove_layer(const std::string& layer);

    ImageServiceParts parts_;
    // Held while a package gets its first record and while one without records is thrown away: the one place
    // where a lock spans calls to the seams, because the two must not overlap.
    std::mutex packages_;
    std::mutex default_;  // which image is the default is decided by one at a time
    Guarded<std::map<std::string, std::uint64_t, std::less<>>> layer_users_;
};

}  // namespace svc
