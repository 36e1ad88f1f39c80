#pragma once
// The application registry: list, push, pull, delete, and synchronisation (configuration registry.*;
// docs/registry.md).
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/blobs/blob_store.h"
#include "libsvc/remote/catalogue.h"
#include "libsvc/services/applications/application_service.h"
#include "libsvc/services/registry/missing_versions.h"
#include "libsvc/services/registry/registry_connection.h"
#include "libsvc/services/registry/registry_operations.h"
#include "libsvc/services/registry/registry_sync.h"
#include "libsvc/services/registry/registry_transfer.h"
#include "libsvc/services/registry/registry_withdrawals.h"
#include "libsvc/services/trust/certificate_service.h"

namespace svc {

struct RegistryServiceParts {
    ApplicationService& applications;
    const CertificateService& certificates;  // registry.fingerprint must be in the trust store
    ConfigService& config;
    BlobStore& blobs;
    Engine& engine;
    std::filesystem::path keys;  // <state>/registry: client.crt, client.key, made at first use
    std::string architecture;
    CatalogueFactory open = open_catalogue;
};

// Thread-safe. All requests throw invalid_argument "registry not configured" while registry.url is empty;
// push in mode pull and pull in mode push: "<x> not allowed".
class RegistryService {
  public:
    explicit RegistryService(RegistryServiceParts parts);
    RegistryService(const RegistryService&) = delete;
    RegistryService& operator=(const RegistryService&) = delete;

    std::vector<CatalogueApplication> list();  // blocks on the network; filtered by registry.filter
    // Sends every published version that the registry lacks.
    Started push(std::string_view id_or_name, std::string requestor);
    // Fetches every version that this service lacks.
    Started pull(std::string_view id_or_name, std::string requestor);
    Started remove(std::string_view id_or_name, std::string requestor);  // from the registry
    // A periodic job with the interval registry.update_interval; also to be called after registry.* changed.
    void synchronise() { sync_.synchronise(); }
    // To be called after a version may have become published; any thread.
    void published(const std::string& application_id) { sync_.published(application_id); }

  private:
    std::string name_of(std::string_view id_or_name) const;

    ApplicationService& applications_;
    RegistryWithdrawals withdrawals_;
    RegistryConnection connection_;
    MissingVersions missing_;
    RegistryOperations operations_;
    RegistryTransfer transfer_;
    RegistrySync sync_;
};

}  // namespace svc
