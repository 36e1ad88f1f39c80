#pragma once
// Deletes applications and versions. Instances that were launched from them hold their layers themselves.
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/services/applications/application_operation.h"
#include "libsvc/services/common/content.h"
#include "libsvc/services/common/records.h"
#include "libsvc/services/instances/instance_service.h"

namespace svc {

struct ApplicationRemovalParts {
    Applications& applications;
    InstanceService& instances;  // removes base containers
    Content& content;
    Engine& engine;
};

// Thread-safe. Registers "application.delete", "application.delete_version". The record is marked with the
// start of the operation, which cancels the bootstraps it deletes.
class ApplicationRemoval {
  public:
    explicit ApplicationRemoval(ApplicationRemovalParts parts);
    ApplicationRemoval(const ApplicationRemoval&) = delete;
    ApplicationRemoval& operator=(const ApplicationRemoval&) = delete;

    // Throws not_found; busy while a deletion is in progress; forbidden for an immutable application without
    // `force`.
    Started remove(std::string_view id_or_name, bool force, const std::string& requestor);
    // Also throws invalid_argument for the last version that is left.
    Started remove_version(std::string_view id_or_name, int version, bool force,
                           const std::string& requestor);
    // The same, whether the application is immutable or not. `addressed` as the request named it.
    Started start_version(std::string_view addressed, const ApplicationTarget& target,
                          const std::string& requestor);
    // For the end of an operation: removes the version from the record and drops its packages and layers.
    OperationResult erase_version(const ApplicationTarget& target);

  private:
    OperationResult run_delete(OperationContext& context);
    OperationResult run_delete_version(OperationContext& context);
    OperationResult without_bases(OperationContext& context, const std::vector<std::string>& bases,
                                  std::function<OperationResult()> last);
    OperationResult erase(const std::string& id);
    OperationResult keep(const Operation& operation);  // after its deletion failed
    bool is_going(const ApplicationTarget& version) const;

    ApplicationRemovalParts parts_;
};

}  // namespace svc
