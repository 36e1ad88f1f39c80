#pragma once
// Follows an image server: images.url at images.update_interval (docs/image-server.md).
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/guarded.h"
#include "libsvc/blobs/blob_store.h"
#include "libsvc/remote/image_server.h"
#include "libsvc/services/configuration/config_service.h"
#include "libsvc/services/images/image_service.h"

namespace svc {

// Opens the image server that the options name; open_image_server, or the double of a test.
using ImageServerFactory = std::function<std::unique_ptr<ImageServer>(const ImageServerOptions&)>;

struct ImageSyncParts {
    ImageService& images;
    ConfigService& config;
    BlobStore& blobs;
    Engine& engine;
    std::string architecture;  // others are skipped
    ImageServerFactory open = open_image_server;
};

// Thread-safe. Registers "image.sync" ("Synchronising images").
class ImageSync {
  public:
    explicit ImageSync(ImageSyncParts parts);
    ImageSync(const ImageSync&) = delete;
    ImageSync& operator=(const ImageSync&) = delete;
    // Downloads what is new and imports it, as one operation; nothing is visible before its fingerprint was
    // verified. Does nothing when images.url is empty or a synchronisation runs. A periodic job; also after
    // images.url, auth, allow_insecure or version_lockstep changed.
    void synchronise();
    // One image by its name on the server ("jammy:amd64", "name@version"), as POST /1.0/images with JSON asks
    // for.
    Started import(std::string_view name, std::string_view remote, bool make_default, std::string requestor);

  private:
    // An image of the server that is to be imported under a name of this service.
    struct Wanted {
        OfferedImage offered;
        std::string name;
        bool make_default = false;
    };

    std::unique_ptr<ImageServer> open() const;
    Started start(std::string description, Json arguments, const std::string& image, std::string requestor);
    void synchronise_one(const std::string& image_id);
    std::shared_ptr<const Image> find(std::string_view id_or_name) const;  // null: none
    bool is_missing(const OfferedImage& offered) const;
    std::vector<Wanted> new_images(const std::vector<OfferedImage>& offered) const;
    std::vector<Wanted> wanted_by(const Operation& operation, const std::vector<OfferedImage>& offered) const;
    OperationResult run(OperationContext& context);
    void fetch(ImageServer& server, const Wanted& wanted, OperationContext& context);
    UploadedPackage download(ImageServer& server, const Wanted& wanted, OperationContext& context);

    ImageSyncParts parts_;
    Guarded<std::set<std::string>> useless_;  // fingerprints of packages that cannot be imported
};

}  // namespace svc
