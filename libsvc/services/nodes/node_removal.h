#pragma once
// Removes nodes. From the request on the node has the status `deleted`, so that nothing new is placed on it.
// A machine that is still there is remembered, so that it does not become a node again by itself.
#include <functional>
#include <string>
#include <string_view>

#include "libsvc/base/thread_pool.h"
#include "libsvc/operations/engine.h"
#include "libsvc/runtime/machine_cluster.h"
#include "libsvc/services/common/records.h"
#include "libsvc/services/nodes/node_registry.h"
#include "libsvc/services/nodes/node_reservations.h"

namespace svc {

// Thread-safe. Registers "node.remove".
class NodeRemovals {
  public:
    NodeRemovals(Nodes& nodes, RemovedNodes& removed, const NodeRegistry& registry,
                 NodeReservations& reservations, Engine& engine, MachineCluster* machine_cluster);
    NodeRemovals(const NodeRemovals&) = delete;
    NodeRemovals& operator=(const NodeRemovals&) = delete;

    // Throws not_found; conflict "node <name> is in use by instances ..." without force while instances are
    // on it, or where this machine, which leads, would leave the cluster below. By force the instances are
    // deleted first.
    Started remove(std::string_view name, const NodeRemoval& removal, std::string requestor);
    // Deletes the instances of a node and returns when they are gone, on a thread of this class. Set before
    // the engine starts. Nothing: the removals under way are waited for, and none begins any more.
    void on_forced_removal(std::function<void(const std::string& node)> remove_instances);

  private:
    OperationResult run_on_pool(OperationContext& context);
    OperationResult run(const Operation& operation);
    OperationResult undo(const Operation& operation);
    bool leaves_cluster(const Node& node, const NodeRemoval& removal) const;
    void stage_end(Batch& last, const std::string& name, bool keeps_manager);

    Nodes& nodes_;
    RemovedNodes& removed_;
    const NodeRegistry& registry_;
    NodeReservations& reservations_;
    Engine& engine_;
    MachineCluster* const machine_cluster_;                          // may be null
    std::function<void(const std::string& node)> remove_instances_;  // may be empty
    ThreadPool pool_;                                                // last: what runs on it uses all above
};

}  // namespace svc
