#pragma once
// What becomes of an instance that has failed: its guest is stopped, its logs are kept, its record says why.
#include <stop_token>
#include <string>
#include <vector>

#include "libsvc/runtime/runtime.h"
#include "libsvc/services/common/content.h"
#include "libsvc/services/common/records.h"
#include "libsvc/services/instances/end/end_hooks.h"
#include "libsvc/services/instances/end/stored_logs.h"
#include "libsvc/services/instances/instance_changes.h"
#include "libsvc/services/instances/instance_work.h"
#include "libsvc/services/nodes/node_service.h"

namespace svc {

struct InstanceFailure {
    std::string id;
    std::string message{};
    int exit_code = 1;  // of the guest, for its end hooks
    std::stop_token stop{};
};

// Thread-safe. One operation at a time per instance: callers hold its claim.
class InstanceFailures {
  public:
    InstanceFailures(Instances& instances, Runtime& runtime, NodeService& nodes, Content& content,
                     const StoredLogs& logs, EndHooks& hooks, InstanceChanges& changes);

    OperationResult run(OperationContext& context);  // "instance.fail"
    // The disk stays reserved until the instance is deleted. Of a base container only record and logs stay.
    OperationResult fail(const InstanceFailure& failure, const std::string& requestor);
    // Removes the container of a failed base instance if fail() could not.
    OperationResult clear_base(const Instance& instance);
    std::vector<StoredLog> collect_logs(const std::string& id);
    // After its commit `ended` lets go of the logs that the record does not name: those that it named before,
    // or the collected ones where the change did not apply.
    OperationResult settle_logs(OperationResult ended, const InstancePtr& before,
                                std::vector<StoredLog> collected);
    // False: something of the container may still run, so address and ports are not free. The error is
    // logged, and the reconciliation tries again.
    bool stop_container(const std::string& id);

  private:
    OperationResult fail_base(const InstancePtr& instance, const std::string& reason,
                              std::vector<StoredLog> logs, const std::string& requestor);
    bool remove_container(const std::string& id);
    void try_end_hooks(const Instance& instance, const InstanceFailure& failure);

    Instances& instances_;
    Runtime& runtime_;
    NodeService& nodes_;
    Content& content_;
    const StoredLogs& logs_;
    EndHooks& hooks_;
    InstanceChanges& changes_;
};

}  // namespace svc
