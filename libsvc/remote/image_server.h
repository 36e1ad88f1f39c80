#pragma once
// The seam to an image server: a simplestreams index over HTTPS, or in a directory (docs/image-server.md; the
// settings images.*).
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace svc {

// A version of an image that the index offers. Its package is one tarball with metadata.yaml and rootfs.
struct OfferedImage {
    std::string name;  // product name or its first alias
    std::vector<std::string> aliases;
    std::string version;       // text of the version: the image's remote_id
    std::string architecture;  // x86_64, aarch64
    std::string release;       // release_version of the product, for version lockstep; ""
    std::string path;          // of the package, relative to the server
    std::string fingerprint;   // SHA-256
    std::uint64_t size = 0;
};

// Thread-safe. Blocks. Throws unavailable, forbidden, and invalid_argument for an index that is malformed.
class ImageServer {
  public:
    virtual ~ImageServer() = default;
    virtual std::vector<OfferedImage> list() = 0;  // newest version of each product last
    virtual void download(const OfferedImage& image, const std::function<void(std::string_view)>& write) = 0;
};

struct ImageServerOptions {
    std::string url;              // https://..., http://... only with allow_insecure, file:///directory
    std::string auth;             // "user:password" -> basic, else a bearer token; ""
    bool allow_insecure = false;  // http, and certificates that cannot be verified
    std::string proxy_http, proxy_https;
    std::vector<std::string> proxy_ignore_hosts;
};
std::unique_ptr<ImageServer> open_image_server(const ImageServerOptions& options);

}  // namespace svc
