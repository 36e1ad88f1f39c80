#pragma once
// The seam to an application registry: a server over HTTPS, or a directory (docs/registry.md).
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/json.h"

namespace svc {

struct CatalogueVersion {
    int number = 0;
    Json details;  // as in the record of the registry application
};

// An application as JSON: name, architectures, boot_package, instance_type, tags, versions (specification:
// Registry).
struct CatalogueApplication {
    std::string name;
    std::vector<std::string> architectures, tags;
    std::string boot_package, instance_type;
    std::vector<CatalogueVersion> versions;
    Json to_json() const;
    static CatalogueApplication from_json(const Json& value);
};

// A version to be sent to the registry.
struct CatalogueUpload {
    CatalogueApplication application;  // with this version alone
    int version = 0;
    std::string architecture;
    std::string fingerprint;  // SHA-256 of the archive
    std::uint64_t size = 0;
    std::string manifest;                                  // YAML text
    std::function<std::string(std::size_t at_most)> read;  // the archive, "" at its end
};

// A version that was received. The archive is in the file that download() was given, and its fingerprint is
// checked.
struct CatalogueDownload {
    std::string fingerprint;
    std::string manifest;
};

// Thread-safe. Blocks; a timeout limits each pause between bytes. Throws unavailable "registry cannot be
// reached: ...", forbidden, not_found, and invalid_argument for replies that are malformed or too large:
// sizes and names are checked, because a registry may be hostile.
class Catalogue {
  public:
    virtual ~Catalogue() = default;
    virtual std::vector<CatalogueApplication> list() = 0;
    virtual bool has(std::string_view name, int version, std::string_view architecture) = 0;
    virtual void upload(const CatalogueUpload& upload) = 0;
    // `write` gets the bytes of the archive as they arrive, and throws when they are too many.
    virtual CatalogueDownload download(std::string_view name, int version, std::string_view architecture,
                                       const std::function<void(std::string_view)>& write) = 0;
    virtual void remove(std::string_view name) = 0;  // throws not_found
};

struct CatalogueOptions {
    std::string url;                         // https://host:port or file:///directory
    std::string fingerprint;                 // of the server's certificate; required for https
    std::filesystem::path certificate, key;  // of the client
    std::string proxy_http, proxy_https;     // "": none
    std::vector<std::string> proxy_ignore_hosts;
};
std::unique_ptr<Catalogue> open_catalogue(
    const CatalogueOptions& options);  // throws invalid_argument for another scheme

}  // namespace svc
