#pragma once
// Compares the records of instances with what the runtime has, and follows what the runtime tells.
#include <vector>

#include "libsvc/services/instances/end/instance_deletions.h"
#include "libsvc/services/instances/repair/instance_repair.h"
#include "libsvc/services/instances/reports/instance_reports.h"

namespace svc {

// Thread-safe.
class InstanceReconciler {
  public:
    InstanceReconciler(Instances& instances, Runtime& runtime, Engine& engine, const Clock& clock,
                       const BootClock& boot_clock, Duration linger, PendingBoots& boots,
                       InstanceRepair& repair, InstanceReports& reports, InstanceDeletions& deletions);
    // Compares and repairs both ways: at start-up after the engine's recovery, and periodically. Starts
    // operations and does not wait for them; removes containers without a record itself.
    void reconcile();
    // The first part of it alone: for a node that is back, before anything is placed there.
    void remove_unrecorded() { without_unrecorded(runtime_.list()); }
    // Deletes the instances that ended by themselves longer than `linger` ago; a periodic job.
    void expire();
    // The runtime's listener.
    void on_runtime_event(const RuntimeEvent& event);

  private:
    void container_stopped(const Instance& instance, const RuntimeEvent& event);
    Duration since_stop(const Instance& instance) const;
    std::vector<ContainerInfo> without_unrecorded(std::vector<ContainerInfo> containers);
    bool belongs_to_an_instance(const ContainerInfo& container) const;
    void remove(const ContainerInfo& container, std::size_t of_its_id);

    Instances& instances_;
    Runtime& runtime_;
    Engine& engine_;
    const Clock& clock_;
    const BootClock& boot_clock_;
    const Duration linger_;
    PendingBoots& boots_;
    InstanceRepair& repair_;
    InstanceReports& reports_;
    InstanceDeletions& deletions_;
};

}  // namespace svc
