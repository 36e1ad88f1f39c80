#pragma once
// Looks at one instance and its container, and starts the operation that brings the two together again. The
// operation claims the instance like every other, and looks again once it holds it.
#include <functional>
#include <set>
#include <string>

#include "libsvc/base/guarded.h"
#include "libsvc/base/timer.h"
#include "libsvc/services/instances/instance_changes.h"
#include "libsvc/services/instances/instance_work.h"
#include "libsvc/services/instances/repair/found_container.h"

namespace svc {

// Thread-safe.
class InstanceRepair {
  public:
    // `specify`: what the container of an instance is made with.
    using Specify = std::function<ContainerSpec(const Instance&)>;
    InstanceRepair(Instances& instances, Runtime& runtime, Engine& engine, Timer& timer,
                   InstanceChanges& changes, Specify specify);
    // Starts `kind` now, or, while another operation holds the instance, looks at the instance after that.
    void start_or_check(const char* kind, const InstanceWork& work);
    // Looks at the instance in a second, and again while an operation holds it. However often this is called,
    // one look is due.
    void check_later(const std::string& id);
    void repair(const std::string& id, const FoundContainer& found);
    OperationResult run_recheck(OperationContext& context);  // "instance.recheck"

  private:
    bool waits_to_be_read(const Instance& instance, const FoundContainer& found);
    bool recreate_container_spec(const Instance& instance);
    void start(const char* kind, const InstanceWork& work);
    void fail_interrupted(const std::string& id);
    void repair_unfinished(const Instance& instance);

    Instances& instances_;
    Runtime& runtime_;
    Engine& engine_;
    Timer& timer_;
    InstanceChanges& changes_;
    const Specify specify_;
    Guarded<std::set<std::string>> due_;  // instances that check_later() looks at soon
};

}  // namespace svc
