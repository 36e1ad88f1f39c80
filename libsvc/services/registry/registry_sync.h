#pragma once
// Keeps the applications here and in the registry alike, as registry.mode asks for (docs/registry.md).
#include <string>
#include <vector>

#include "libsvc/services/applications/application_service.h"
#include "libsvc/services/registry/missing_versions.h"
#include "libsvc/services/registry/registry_connection.h"
#include "libsvc/services/registry/registry_operations.h"

namespace svc {

struct RegistrySyncParts {
    ApplicationService& applications;
    const RegistryConnection& connection;
    const MissingVersions& missing;
    RegistryOperations& operations;
};

// Thread-safe. Starts operations and waits for none of them.
class RegistrySync {
  public:
    explicit RegistrySync(RegistrySyncParts parts) : parts_(parts) {}
    // In mode pull: pulls new versions and deletes the applications that the registry no longer has. In mode
    // push: sends what is published. Blocks on the network.
    void synchronise();
    // A version of this application may have become published: sends it in mode push. Throws nothing, returns
    // at once.
    void published(const std::string& application_id);

  private:
    void synchronise_pull();
    void pull_new(Catalogue& catalogue, const CatalogueApplication& offered);
    void forget_missing(const std::vector<CatalogueApplication>& offered);
    void synchronise_push();
    void push_new(Catalogue& catalogue, const Application& application);
    void start_push(const Application& application);

    RegistrySyncParts parts_;
};

}  // namespace svc
