#pragma once
// Makes machines nodes on request: one that is there at once, another one when its manager comes.
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "libsvc/base/guarded.h"
#include "libsvc/base/timer.h"
#include "libsvc/operations/context.h"
#include "libsvc/operations/engine.h"
#include "libsvc/services/nodes/node_registry.h"
#include "libsvc/services/nodes/node_wishes.h"

namespace svc {

struct NodeAdditionParts {
    Nodes& nodes;
    RemovedNodes& removed;
    const NodeRegistry& registry;
    MachineCluster* machine_cluster;  // may be null
};

// Thread-safe. Registers "node.add". Until the machine has come its record is `created`, then `initializing`;
// `error` when it has not come in time.
class NodeAdditions {
  public:
    // `follow` compares the records with the runtime, and calls look() then.
    NodeAdditions(NodeAdditionParts parts, Engine& engine, Clock& clock, Duration limit,
                  std::function<void()> follow);
    NodeAdditions(const NodeAdditions&) = delete;
    NodeAdditions& operator=(const NodeAdditions&) = delete;

    // Throws conflict for a known name or address; invalid_argument when the machine at the address has
    // another name, or what is asked for cannot be had; unsupported where the runtime has one node, of
    // another name.
    Started add(const NodeCreate& request, const std::string& requestor);
    void look();  // ends the operations whose node is online now
    // Whether a machine may join those below the runtime, and the device that its part of their storage pool
    // is to have ("": not said). Throws conflict when it was removed, or its operator joins it.
    std::string admit(std::string_view machine) const;

  private:
    void check(const NodeCreate& request) const;
    void begin(OperationContext& context);
    OperationResult undo(const Operation& operation, const Error& error);
    void fail(const std::string& operation, const Error& error);
    void time_out(const std::string& operation, const std::string& name);
    std::shared_ptr<OperationCompletion> take(const std::string& operation);

    Nodes& nodes_;
    RemovedNodes& removed_;
    const NodeRegistry& registry_;
    MachineCluster* const machine_cluster_;
    Engine& engine_;
    const Duration limit_;
    const std::function<void()> follow_;
    struct Waiting {
        std::string node;
        std::shared_ptr<OperationCompletion> completion;
    };
    Guarded<std::map<std::string, Waiting>> waiting_;  // by operation
    Timer timer_;                                      // last: its calls use all of the above
};

}  // namespace svc
