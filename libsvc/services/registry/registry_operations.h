#pragma once
// Starts the operations of the registry: push, pull, delete. One transfer runs at a time.
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/model/packages/application.h"
#include "libsvc/services/common/records.h"
#include "libsvc/services/registry/registry_connection.h"

namespace svc {

// How the application is named in the resources of the operation, and who asks ("" for the service itself).
struct RegistryRequest {
    std::string addressed;
    std::string requestor;
};

// Thread-safe. The kinds are registered by RegistryTransfer.
class RegistryOperations {
  public:
    RegistryOperations(Engine& engine, const RegistryConnection& connection)
        : engine_(engine), connection_(connection) {}

    // push() and pull() queue behind running transfers, which may have compared versions before this request.
    Started push(const Application& application, const std::vector<int>& versions,
                 const RegistryRequest& request);
    Started pull(const std::string& name, const RegistryRequest& request);
    // Returns a running or waiting transfer that covers this request, else starts one.
    Started join_or_push(const Application& application, const std::vector<int>& versions,
                         const RegistryRequest& request);
    Started join_or_pull(const std::string& name, const RegistryRequest& request);
    Started remove(const std::string& name, const RegistryRequest& request);
    // Throws busy "<description of the kind> already in progress" while any operation of the registry works
    // on that application.
    void check_idle(std::string_view kind, const std::string& name) const;

  private:
    Json push_arguments(const Application& application, const std::vector<int>& versions) const;
    Json pull_arguments(const std::string& name) const;
    Started start(std::string kind, const RegistryRequest& request, Json arguments);
    Started join_or_start(std::string kind, const RegistryRequest& request, Json arguments);

    Engine& engine_;
    const RegistryConnection& connection_;
};

}  // namespace svc
