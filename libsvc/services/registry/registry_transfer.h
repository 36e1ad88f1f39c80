#pragma once
// What the operations of the registry do in the background: sending, fetching and deleting versions.
#include <string>

#include "libsvc/blobs/blob_store.h"
#include "libsvc/services/applications/application_service.h"
#include "libsvc/services/registry/missing_versions.h"
#include "libsvc/services/registry/registry_connection.h"
#include "libsvc/services/registry/registry_withdrawals.h"

namespace svc {

struct RegistryTransferParts {
    ApplicationService& applications;
    const RegistryConnection& connection;
    const MissingVersions& missing;
    RegistryWithdrawals& withdrawals;
    BlobStore& blobs;
    Engine& engine;
    std::string architecture;
};

// Registers "registry.push", "registry.pull", "registry.delete". They are resumed after a restart: versions
// that have arrived are not sent again.
class RegistryTransfer {
  public:
    explicit RegistryTransfer(RegistryTransferParts parts);
    RegistryTransfer(const RegistryTransfer&) = delete;
    RegistryTransfer& operator=(const RegistryTransfer&) = delete;

  private:
    OperationResult run_push(OperationContext& context);
    void push_version(Catalogue& catalogue, const Application& application, int version,
                      OperationContext& context);
    OperationResult run_pull(OperationContext& context);
    void await_imports(const std::string& name, const OperationContext& context);
    void pull_version(Catalogue& catalogue, const std::string& name, int version, OperationContext& context);
    UploadedPackage download(Catalogue& catalogue, const std::string& name, int version,
                             OperationContext& context);
    OperationResult run_remove(const OperationContext& context);

    RegistryTransferParts parts_;
};

}  // namespace svc
