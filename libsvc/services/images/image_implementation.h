#pragma once
// The inside of ImageService: image_service.cpp takes requests, image_work.cpp does what they started.
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "libsvc/services/images/image_service.h"

namespace svc {

class ImageService::Implementation {
  public:
    explicit Implementation(ImageServiceParts parts);

    void check_create(const ImageRequest& request) const;
    std::shared_ptr<const Image> check_update(std::string_view id_or_name) const;
    Started create(const ImageRequest& request, UploadedPackage package, std::string_view fingerprint,
                   std::string requestor);
    Started update(std::string_view id_or_name, const ImageRequest& request, UploadedPackage package,
                   std::string_view fingerprint, std::string requestor, const Precondition& unchanged);
    Started patch(std::string_view id_or_name, const ImagePatch& patch, std::string requestor,
                  const Precondition& unchanged);
    Started remove(std::string_view id_or_name, bool force, std::string requestor);
    Started remove_version(std::string_view id_or_name, int version, std::string requestor);
    std::shared_ptr<const Image> default_image() const;
    Started import(const RemoteImage& remote, UploadedPackage package);
    std::vector<std::string> used_by(const Image& image) const;
    const Images& images() const { return parts_.images; }

    // Set once, before there is work.
    std::function<void(const std::string&)> new_version_listener;
    std::function<void(const std::string&)> sync_listener;

  private:
    // One version of one image, as operations name it.
    struct Target {
        std::string image;
        int version = 0;
        bool make_default = false;
        Json to_json() const;
        static Target of(const Operation& operation);
    };

    void register_kinds();
    void add_references(ContentReferences& used) const;
    Image new_image(const std::string& name, ImageVersion first) const;
    Started start_create(Image image, UploadedPackage package, bool make_default, std::string requestor);
    Started start_update(const Image& image, ImageVersion version, UploadedPackage package,
                         std::string_view addressed, bool make_default, std::string requestor,
                         const Precondition& unchanged);
    void check_patch(const Image& image, const ImagePatch& patch) const;
    void check_sync(const Image& image) const;
    bool is_only_image(const Image& image) const;
    OperationSpec spec_for(std::string kind, std::string description, std::string_view addressed,
                           const Target& target, std::string requestor) const;
    ImageVersion new_version(int number, const UploadedPackage& package) const;
    // Makes the blob visible and starts the operation whose record refers to it.
    Started start_import(UploadedPackage package, const OperationSpec& spec,
                         const std::function<void(Batch&)>& stage);

    OperationResult unpack(OperationContext& context);
    ImageMetadata unpack_layer(const ImageVersion& version, OperationContext& context);
    void activate(const Target& target, const ImageMetadata& metadata, std::uint64_t root_size);
    void change_with_default(const std::string& id, bool make_default,
                             const std::function<void(Image&)>& change);
    void stage_with_default(Batch& batch, const std::string& id, bool make_default,
                            const std::function<void(Image&)>& change);
    OperationResult set_default(const Operation& operation);
    OperationResult undo_create(const Operation& operation);
    OperationResult undo_update(const Operation& operation);  // and what deletes a version
    OperationResult remove_image(const Operation& operation);

    void drop_package(const std::string& fingerprint);

    ImageServiceParts parts_;
    std::mutex
        changing_;  // which image is the default, and who changes an image first, is settled one by one
};

}  // namespace svc
