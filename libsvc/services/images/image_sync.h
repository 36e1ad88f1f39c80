#pragma once
// Follows an image server: images.url at images.update_interval (facts 5.6).
#include <functional>
#include <memory>
#include <string>
#include <string_view>

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
    ~ImageSync();
    // Downloads what is new and imports it, as one operation; nothing is visible before its fingerprint was
    // verified. Does nothing when images.url is empty or a synchronisation runs. A periodic job; also after
    // images.url, auth, allow_insecure or version_lockstep changed.
    void synchronise();
    // One image by its name on the server ("jammy:amd64", "name@version"), as POST /1.0/images with JSON asks
    // for.
    Started import(std::string_view name, std::string_view remote, bool make_default, std::string requestor);

  private:
    class Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace svc
