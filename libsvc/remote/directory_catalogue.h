#pragma once
// Internal to this folder: a registry that is a directory,
// <name>/<version>/<architecture>/{archive.tar.gz,manifest.yaml,details.json}.
#include "libsvc/remote/catalogue.h"
#include "libsvc/remote/catalogue_key.h"
#include "libsvc/remote/directory_tree.h"

namespace svc {

// Several services may use a directory at the same time: a version is renamed into its place when it is
// complete. A version is never replaced: to send the same bytes again succeeds, other bytes are a conflict.
class DirectoryCatalogue final : public Catalogue {
  public:
    explicit DirectoryCatalogue(std::filesystem::path root) : tree_(std::move(root)) {}
    std::vector<CatalogueApplication> list() override;
    bool has(std::string_view name, int version, std::string_view architecture) override;
    void upload(const CatalogueUpload& upload) override;
    CatalogueDownload download(std::string_view name, int version, std::string_view architecture,
                               const std::function<void(std::string_view)>& write) override;
    void remove(std::string_view name) override;

  private:
    std::optional<CatalogueApplication> read_application(const std::string& name) const;
    // The application of details.json, with this version alone.
    std::optional<CatalogueApplication> read_details(const CatalogueKey& key, std::string* fingerprint) const;
    void write_version(const CatalogueUpload& upload, const std::filesystem::path& folder) const;
    void move_into_place(const CatalogueKey& key, const std::filesystem::path& folder,
                         const std::string& fingerprint) const;
    void remove_leftovers() const;

    DirectoryTree tree_;
};

}  // namespace svc
