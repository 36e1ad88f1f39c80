#pragma once
// What the operations of images do in the background: unpacking, activation, deletion, undoing.
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "libsvc/operations/engine.h"
#include "libsvc/services/common/content.h"
#include "libsvc/services/common/records.h"
#include "libsvc/services/images/default_image.h"

namespace svc {

// One version of one image, as stored in the arguments of an operation.
struct ImageTarget {
    std::string image;  // id
    int version = 0;
    bool make_default = false;
    Json to_json() const;
    static ImageTarget of(const Operation& operation);
};

// Claims the image. `addressed`: id or name as the request had it.
OperationSpec image_operation(std::string kind, std::string description, std::string_view addressed,
                              const ImageTarget& target, std::string requestor);

// Thread-safe. Registers "image.add", "image.update", "image.delete", "image.delete_version", "image.patch",
// and "image.set_default" of earlier versions. All are resumed after a restart.
class ImageOperations {
  public:
    ImageOperations(Images& images, DefaultImage& default_image, Content& content, Engine& engine);
    ImageOperations(const ImageOperations&) = delete;
    ImageOperations& operator=(const ImageOperations&) = delete;

    // Called with the image's id after one of its versions has become active; any thread. Set before the
    // engine starts.
    void on_new_version(std::function<void(const std::string& image_id)> listener) {
        listener_ = std::move(listener);
    }

  private:
    void register_kinds();
    OperationResult unpack(OperationContext& context);
    ImageMetadata unpack_layer(const ImageVersion& version, OperationContext& context);
    void activate(const ImageTarget& target, const ImageMetadata& metadata, std::uint64_t root_size);
    OperationResult set_default(const Operation& operation);
    OperationResult undo_create(const Operation& operation);
    OperationResult erase_version(const Operation& operation);  // also undoes an update
    OperationResult erase(const Operation& operation);
    OperationResult keep(const Operation& operation);  // after its deletion failed
    void drop_package(const std::string& fingerprint);

    Images& images_;
    DefaultImage& default_image_;
    Content& content_;
    Engine& engine_;
    std::function<void(const std::string& image_id)> listener_;  // may be empty
};

}  // namespace svc
