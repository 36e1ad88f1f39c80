#pragma once
// What the configuration says of the registry: whether it may be used, and the way to it.
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/remote/catalogue.h"
#include "libsvc/services/configuration/config_service.h"
#include "libsvc/services/trust/certificate_service.h"

namespace svc {

// Opens the registry that the options name; open_catalogue, or the double of a test.
using CatalogueFactory = std::function<std::unique_ptr<Catalogue>(const CatalogueOptions&)>;

// Thread-safe. Every call reads the configuration anew.
class RegistryConnection {
  public:
    // `keys`: the directory of client.crt and client.key, made at first use.
    RegistryConnection(const CertificateService& certificates, const ConfigService& config,
                       std::filesystem::path keys, CatalogueFactory open)
        : certificates_(certificates), config_(config), keys_(std::move(keys)), open_(std::move(open)) {}

    // Throws invalid_argument "registry not configured", "registry certificate is not trusted".
    void check_configured() const;
    // The same, and "<action> not allowed" when registry.mode is `forbidden_mode`.
    void check_mode(std::string_view action, std::string_view forbidden_mode) const;
    std::unique_ptr<Catalogue> open() const;  // throws what check_configured() throws; asks nothing yet
    std::string url() const { return config_.text("registry.url"); }
    std::string mode() const { return config_.text("registry.mode"); }
    std::vector<std::string> filter() const { return config_.values().list("registry.filter"); }

  private:
    bool is_trusted(const std::string& fingerprint) const;

    const CertificateService& certificates_;
    const ConfigService& config_;
    const std::filesystem::path keys_;
    const CatalogueFactory open_;
};

}  // namespace svc
