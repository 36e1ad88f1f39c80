#pragma once
// Launches that leave nothing behind: cancelled, or failed before a node was found.
#include <string>

#include "libsvc/services/instances/end/instance_failures.h"

namespace svc {

// Thread-safe.
class AbandonedLaunches {
  public:
    AbandonedLaunches(Instances& instances, Runtime& runtime, NodeService& nodes, Content& content,
                      InstanceFailures& failures, InstanceChanges& changes);
    // Removes container and record. An instance that is protected from deletion stays, as an error: the
    // protection may come at this moment, so the commit decides. `failed`: `container-failed` is published.
    OperationResult forget(const InstancePtr& instance, bool failed, const std::string& requestor);

  private:
    OperationResult drop_record(const InstancePtr& instance, bool failed, const std::string& requestor);
    OperationResult keep_record(const InstancePtr& instance, const std::string& requestor);

    Instances& instances_;
    Runtime& runtime_;
    NodeService& nodes_;
    Content& content_;
    InstanceFailures& failures_;
    InstanceChanges& changes_;
};

}  // namespace svc
