#pragma once
// How the record of a new instance comes into being, together with the operation that launches it.
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "libsvc/services/instances/boot_clock.h"
#include "libsvc/services/instances/instance_changes.h"
#include "libsvc/services/instances/instance_work.h"
#include "libsvc/services/nodes/node_service.h"

namespace svc {

// Thread-safe.
class NewInstances {
  public:
    NewInstances(Instances& instances, NodeService& nodes, Engine& engine, Clock& clock,
                 const BootClock& boot_clock, IdSource& ids, InstanceChanges& changes);
    // Ids where they are missing, and the times of the launch.
    void give_identity(Instance& instance) const;
    // Called when there is no room for a new instance that is not of a pool. Returns the claims of operations
    // behind which there is some; the launch queues behind them. Set once, before the first launch.
    using Shortage = std::function<std::vector<std::string>(const Instance&)>;
    void on_shortage(Shortage shortage) { shortage_ = std::move(shortage); }
    // Commits the record with `batch` and the operation of `spec`: `prepared`, with what is reserved for it,
    // or `created` where nothing can be reserved, which the operation tells. Throws invalid_argument for a
    // record that is too large to grow, conflict when the id or name is taken.
    Started launch(Instance instance, OperationSpec spec, Batch batch);

  private:
    bool place(Instance& instance, OperationSpec& spec) const;
    void wait_for_room(const Instance& instance, OperationSpec& spec) const;

    Instances& instances_;
    NodeService& nodes_;
    Engine& engine_;
    Clock& clock_;
    const BootClock& boot_clock_;
    IdSource& ids_;
    InstanceChanges& changes_;
    Shortage shortage_;
};

}  // namespace svc
