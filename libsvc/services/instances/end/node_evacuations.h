#pragma once
// Empties a node: closes it for new instances, and stops, deletes or moves those that are on it.
#include <string>
#include <string_view>

#include "libsvc/services/instances/end/evacuation_run.h"

namespace svc {

// Thread-safe. Registers "node.evacuate", which holds no worker while it waits for the operations that it
// consists of. It is resumed after a restart: what it is to do with each instance is stored before it begins.
class NodeEvacuations {
  public:
    NodeEvacuations(const Instances& instances, Nodes& node_records, const NodeService& nodes, Engine& engine,
                    Timer& timer, EvacuationCalls calls);
    // Marks the node as unschedulable. The metadata of the operation tell of each instance what became of it;
    // it fails when an instance is still there that should not be. `relaunch` deletes an instance when the
    // new one runs, so that it is not lost where no other node has room; the disk is not taken along. One
    // that is cancelled or fails removes the new ones whose old ones it has not begun to delete.
    Started start(std::string_view node, EvacuationMode mode, const std::string& requestor);
    void stop() { thread_.stop(); }  // after the engine; takes no steps any more

  private:
    OperationResult run(OperationContext& context);
    OperationResult undo(const Operation& operation);
    EvacuationPlan make_plan(const Operation& operation) const;
    EvacuationMove plan_move(const Instance& instance, EvacuationMode mode) const;
    void stage_end(Batch& last, const std::string& node);
    void undo_move(const EvacuationMove& move, bool is_replaced, const std::string& requestor) const;

    Nodes& node_records_;
    const EvacuationParts parts_;
    ThreadPool thread_;  // last: what runs on it uses all of the above
};

}  // namespace svc
