#pragma once
// Internal to this folder: a registry over HTTPS with client certificates on both sides (docs/registry.md).
#include "libsvc/remote/catalogue.h"
#include "libsvc/remote/remote_http.h"

namespace svc {

class HttpsCatalogue final : public Catalogue {
  public:
    // Makes the key pair of the client when it is absent. Throws invalid_argument without a fingerprint.
    explicit HttpsCatalogue(const CatalogueOptions& options);
    std::vector<CatalogueApplication> list() override;
    bool has(std::string_view name, int version, std::string_view architecture) override;
    void upload(const CatalogueUpload& upload) override;
    CatalogueDownload download(std::string_view name, int version, std::string_view architecture,
                               const std::function<void(std::string_view)>& write) override;
    void remove(std::string_view name) override;

  private:
    RemoteHttp server_;
};

}  // namespace svc
