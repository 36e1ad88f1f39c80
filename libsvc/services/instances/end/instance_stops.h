#pragma once
// Stopping: the guest ends, its end hooks run, the record becomes `stopped`.
#include <stop_token>
#include <string>

#include "libsvc/services/instances/end/instance_failures.h"

namespace svc {

// Thread-safe. The handlers of "instance.stop".
class InstanceStops {
  public:
    InstanceStops(Instances& instances, Runtime& runtime, NodeService& nodes, const Clock& clock,
                  const BootClock& boot_clock, const BootLimit& limit, Duration grace, EndHooks& hooks,
                  InstanceFailures& failures, InstanceChanges& changes);
    OperationResult run(OperationContext& context);
    OperationResult undo(const Operation& operation, const Error& error);
    // How long the guest may take to shut down.
    Duration grace(const Instance& instance) const;

  private:
    Duration grace_when_up(const Instance& instance) const;
    OperationResult stop(const InstancePtr& instance, int exit_code, const std::string& requestor,
                         const std::stop_token& stop);

    Instances& instances_;
    Runtime& runtime_;
    NodeService& nodes_;
    const Clock& clock_;
    const BootClock& boot_clock_;
    const BootLimit& limit_;
    const Duration grace_;
    EndHooks& hooks_;
    InstanceFailures& failures_;
    InstanceChanges& changes_;
};

}  // namespace svc
