#pragma once
// Pausing: the guest of a running instance is frozen until it is resumed (docs/management.md, "Paused
// instances").
#include <string>

#include "libsvc/runtime/runtime.h"
#include "libsvc/services/instances/instance_changes.h"
#include "libsvc/services/instances/instance_work.h"

namespace svc {

// Thread-safe. The handlers of "instance.pause" and "instance.resume": the container first, then the record.
class InstancePauses {
  public:
    InstancePauses(Instances& instances, Runtime& runtime, InstanceChanges& changes)
        : instances_(instances), runtime_(runtime), changes_(changes) {}
    OperationResult run_pause(const Operation& operation);
    OperationResult run_resume(const Operation& operation);
    // Of both: the record says what the container is then.
    OperationResult undo(const Operation& operation);

  private:
    bool is_up(const std::string& id) const;

    Instances& instances_;
    Runtime& runtime_;
    InstanceChanges& changes_;
};

// The record of a running instance takes over whether its container is frozen.
OperationResult note_pause(InstanceChanges& changes, const std::string& id, bool frozen,
                           const std::string& requestor);

}  // namespace svc
